"""Images, sounds and texts of a table become small, safe parts of a page; what cannot be shown is said."""

from __future__ import annotations

import base64
import io
import wave

import numpy as np
import pytest
from PIL import Image

from sidelight.app.jobs.gallery import gallery_of, looker_of
from sidelight.app.jobs.media import PAGE_LIMIT, MediaReader, of_array
from sidelight.data.bags import Bags
from sidelight.data.dataset import ColumnRole, Dataset


def content(uri):
    head, data = uri.split(",")
    return head, base64.b64decode(data)


def write_wav(path, *, seconds=1.0, rate=44100, channels=2):
    t = np.arange(int(seconds * rate)) / rate
    tone = (12000 * np.sin(2 * np.pi * 1000 * t)).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, 2, rate, 0, "NONE", ""))
        file.writeframes(np.repeat(tone, channels).tobytes())


def test_a_photograph_becomes_a_small_one_without_where_it_was_taken(tmp_path):
    exif = Image.Exif()
    exif[0x010E] = "at home"
    exif[0x0112] = 6  # the camera was turned
    Image.fromarray(np.zeros((600, 900, 3), np.uint8)).save(tmp_path / "a.jpg", exif=exif)
    shown = MediaReader(tmp_path).look("a.jpg")
    head, data = content(shown.uri)
    assert head == "data:image/jpeg;base64"
    assert b"at home" not in data
    small = Image.open(io.BytesIO(data))
    assert max(small.size) == 144
    assert small.height > small.width  # turned upright
    assert not small.getexif()


def test_a_sound_is_cut_thinned_and_has_a_spectrogram_with_its_pitch(tmp_path):
    write_wav(tmp_path / "a.wav", seconds=5)
    shown = MediaReader(tmp_path).look("a.wav")
    head, data = content(shown.uri)
    assert head == "data:audio/wav;base64"
    with wave.open(io.BytesIO(data)) as file:
        assert file.getnchannels() == 1
        assert file.getframerate() == 14700  # 44100 / 3
        assert file.getnframes() / file.getframerate() == pytest.approx(2.5, abs=0.01)
    picture = np.asarray(Image.open(io.BytesIO(content(shown.picture)[1])))
    darkest = picture.mean(axis=1).argmin()
    assert 1 - (darkest + 0.5) / len(picture) == pytest.approx(1000 / 22050, abs=0.03)


def test_other_sounds_have_a_player_and_the_page_says_why_no_picture(tmp_path):
    (tmp_path / "a.mp3").write_bytes(b"ID3" + bytes(2000))
    looker = MediaReader(tmp_path)
    shown = looker.look("a.mp3")
    assert shown.uri.startswith("data:audio/mpeg;base64,")
    assert not shown.picture
    assert looker.notes() == ["Only WAV files have a spectrogram; other sounds have a player."]


def test_texts_are_cut():
    shown = MediaReader("").look("word " * 500)
    assert shown.kind == "text"
    assert len(shown.text) <= 220
    assert shown.text.endswith("…")


def test_missing_broken_and_distant_files_are_counted_in_one_line(tmp_path):
    (tmp_path / "bad.png").write_bytes(b"no image")
    (tmp_path / "bad.wav").write_bytes(b"RIFF no sound")
    (tmp_path / "secret.mp3").write_bytes(b"root:x:0:0")
    (tmp_path / "dir.png").mkdir()
    looker = MediaReader(tmp_path)
    for cell in ("bad.png", "bad.wav", "secret.mp3", "gone.png", "dir.png", "\0.png", "https://example.org/a.png"):
        assert looker.look(cell) is None
    (note,) = looker.notes()
    assert note.startswith("7 rows could not be shown: 3 unreadable (such as 'bad.png'), 3 missing (such as ")
    assert "1 on the web" in note


def test_a_guessed_column_shows_only_files_below_the_tables_folder(tmp_path):
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(tmp_path / "private.png")
    inside = tmp_path / "data"
    inside.mkdir()
    (inside / "link.png").symlink_to(tmp_path / "private.png")
    guessed = MediaReader(inside, is_confined=True)
    assert guessed.look("../private.png") is None
    assert guessed.look(str(tmp_path / "private.png")) is None
    assert guessed.look("link.png") is None
    assert MediaReader(inside).look("../private.png") is not None
    X = np.zeros((1, 1))
    column = {"photo": np.array(["a.png"], dtype=object)}
    for is_guess in (True, False):
        roles = (ColumnRole("photo", "show", "its name", is_guess=is_guess),)
        data = Dataset(X, ("a",), str(inside / "t.csv"), show=column, roles=roles)
        looker = looker_of(data)
        assert looker.is_confined == is_guess
        assert looker.folder == inside


def test_the_limit_takes_from_every_cluster_alike_and_is_said(tmp_path):
    generator = np.random.default_rng(0)
    for i in range(24):
        Image.fromarray(generator.integers(0, 255, (144, 144, 3), dtype=np.uint8)).save(tmp_path / f"{i}.png")
    names = np.array([f"{i}.png" for i in range(24)], dtype=object)
    data = Dataset(np.arange(24.0)[:, None], ("x",), str(tmp_path / "t.csv"), show={"image": names})
    looker = looker_of(data)
    looker.limit = 6 * looker.look("0.png").size
    gallery = gallery_of(data, np.arange(24) % 2, np.ones(24), ["a", "b"], look=lambda row: looker.look(names[row]))
    shown = [sum(m.media is not None for m in group.members["typical"]) for group in gallery.groups]
    assert abs(shown[0] - shown[1]) <= 1
    assert sum(shown) >= 4
    assert "more than" in looker.notes()[-1]
    assert PAGE_LIMIT == 2_000_000


def test_pixels_are_dark_where_values_are_high():
    shown = of_array(np.array([[0.0, 5.0]]))
    assert np.asarray(Image.open(io.BytesIO(content(shown.uri)[1]))).tolist() == [[255, 0]]
    assert shown.is_tiny


def test_members_are_typical_doubtful_and_novel():
    n = 40
    sure = np.linspace(0.4, 1.0, n)
    novelty = np.zeros(n)
    novelty[7] = 0.45
    data = Dataset(np.random.default_rng(0).normal(size=(n, 3)), ("a", "b", "c"))
    (group,) = gallery_of(data, np.zeros(n, int), sure, ["x"], novelty=novelty).groups
    assert [m.name for m in group.members["typical"]][:2] == ["row 40", "row 39"]
    assert [m.name for m in group.members["doubtful"]] == ["row 1", "row 2", "row 3"]
    assert [m.name for m in group.members["novel"]] == ["row 8"]
    assert group.members["typical"][0].why == "100% sure"
    assert group.members["typical"][0].profile.features == ["a", "b", "c"]


def test_typical_members_come_from_many_bags_and_are_sure():
    bags = Bags(np.repeat(["one", "two", "three", "four"], 10))
    sure = np.r_[np.ones(20), np.full(10, 0.95), np.full(10, 0.6)]  # bags with one label are sure of every row
    data = Dataset(np.zeros((40, 1)), ("a",), bags=bags)
    (group,) = gallery_of(data, np.zeros(40, int), sure, ["x"]).groups
    names = [m.name for m in group.members["typical"]]
    assert names == ["row 1", "row 2", "row 3", "row 4", "row 11", "row 21"]
    assert [m.why for m in group.members["typical"]][-1] == "95% sure"
    assert not {m.name for m in group.members["doubtful"]} & set(names)


def test_a_cluster_that_is_sure_has_no_doubtful_members():
    data = Dataset(np.zeros((20, 1)), ("a",))
    (group,) = gallery_of(data, np.zeros(20, int), np.full(20, 0.99), ["x"]).groups
    assert group.members["doubtful"] == []


def test_values_near_the_end_of_the_numbers_have_a_chart():
    data = Dataset(np.array([[1e308], [-1e308], [3.0]]), ("a",))
    (group,) = gallery_of(data, np.zeros(3, int), np.ones(3), ["x"]).groups
    assert np.isfinite(group.members["typical"][0].profile.row).all()
