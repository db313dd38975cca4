"""Folders described by a network: its numbers are what is learnt from, and everybody remembers which network it was."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import sidelight as sl
from sidelight.app.jobs.samples import write_folder
from sidelight.errors import InvalidData, InvalidParameter, UnreadableFile
from sidelight.files.material.rows import Material, material_of

sys.path.insert(0, str(Path(__file__).parents[1] / "cards"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SIDELIGHT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def photos(tmp_path):
    """Return a folder of eight pictures, one colour above and another below."""
    folder = tmp_path / "photos"
    folder.mkdir()
    colours = [(200, 30, 30), (30, 200, 30), (30, 30, 200), (200, 200, 30)]
    for k in range(8):
        pixels = np.full((60, 80, 3), colours[k % 4], np.uint8)
        pixels[30:] = colours[(k + 1 + k // 4) % 4]
        Image.fromarray(pixels).save(folder / f"p{k}.png")
    return folder


def test_a_function_describes_and_readable_numbers_stay_beside_it(photos, tmp_path):
    data = sl.from_folder(photos, regions=2, embed="tiny:as_function", out=tmp_path / "rows.parquet")
    assert data.feature_names == ("emb_0", "emb_1", "emb_2")
    assert data.components == ("emb_*",)
    names, values = data.readable
    assert len(names) == 66
    assert values.shape == (data.n_rows, 66)
    assert "mean lightness" in data.telling[1]
    part = data.take(np.arange(3))
    np.testing.assert_array_equal(part.readable[1], values[:3])
    card = material_of(tmp_path / "rows.parquet").card
    assert (card["runtime"], card["source"]) == ("function", "tiny:as_function")


def test_none_gives_readable_numbers_alone(photos):
    data = sl.from_folder(photos, embed="none")
    assert data.n_features == 66
    assert data.readable is None
    assert data.components == ()


def test_another_card_cuts_again(photos, tmp_path):
    out = tmp_path / "rows.parquet"
    sl.from_folder(photos, embed="none", out=out)
    again = sl.from_folder(photos, embed="tiny:as_function", out=out)
    assert again.n_features == 3
    assert any(
        "no file had changed" in note for note in sl.from_folder(photos, embed="tiny:as_function", out=out).notes
    )


def test_texts_are_described_whole(tmp_path):
    folder = tmp_path / "letters"
    folder.mkdir()
    for k in range(4):
        (folder / f"{k}.txt").write_text("word " * (k + 1))
    data = sl.from_folder(folder, embed="tiny:as_function")
    assert data.X[:, 0].tolist() == [4.0, 9.0, 14.0, 19.0]
    assert sl.from_folder(folder).components == ()
    assert sl.read(folder, embed="tiny:as_function").n_features == 2


def test_one_row_a_recording(tmp_path):
    pytest.importorskip("soundfile", reason="recordings need the extra audio")
    folder = tmp_path / "s"
    write_folder("sounds", str(folder), seed=0)
    for path in sorted(folder.glob("*.wav"))[3:]:
        path.unlink()
    data = sl.from_folder(folder, whole=True, embed="tiny:as_function")
    assert data.n_rows == 3
    assert data.bags is None
    assert not any("#t=" in str(shown) for shown in data.show["show"])
    assert len(data.readable[0]) == 107


def test_wrong_cards_are_one_message(photos, tmp_path):
    with pytest.raises(InvalidParameter, match="describes sounds"):
        sl.from_folder(photos, embed="birdnet")
    with pytest.raises(UnreadableFile, match="numbers that are none"):
        sl.from_folder(photos, embed="tiny:gives_nan")
    with pytest.raises(InvalidParameter, match="cannot be found"):
        sl.from_folder(photos, embed="tiny:not_there")
    with pytest.raises(InvalidParameter, match="embed"):
        sl.read(photos, embed=3)
    with pytest.raises(InvalidData, match="damaged"):
        Material.from_json("{}")


def test_what_a_network_listens_to_and_recordings_do_not_hold_is_said(tmp_path):
    soundfile = pytest.importorskip("soundfile", reason="recordings need the extra audio")
    folder = tmp_path / "s"
    folder.mkdir()
    soundfile.write(folder / "low.wav", np.random.default_rng(0).normal(scale=0.1, size=8000), 8000)
    data = sl.from_folder(folder, whole=True, embed="tiny:as_function")
    assert any("up to 4,000 Hz" in note and "50% of what it listens to is missing" in note for note in data.notes)
    soundfile.write(folder / "low.wav", np.random.default_rng(0).normal(scale=0.1, size=16000), 16000)
    assert not any("is missing" in note for note in sl.from_folder(folder, whole=True, embed="tiny:as_function").notes)
