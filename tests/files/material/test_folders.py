"""From a folder to a data set: kinds, labels, recipes, changes, and what is broken."""

from __future__ import annotations

import os
import shutil

import numpy as np
import polars as pl
import pytest
from PIL import Image

import sidelight as sl
from sidelight.app.jobs.samples import write_folder
from sidelight.data.dataset import TOLD
from sidelight.data.synth.material import make_photographs
from sidelight.errors import InvalidData, InvalidParameter, UnreadableFile
from sidelight.files.material.rows import Material, material_of

pytest.importorskip("soundfile", reason="recordings need the extra audio")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SIDELIGHT_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos") / "p"
    write_folder("pictures", str(folder), seed=0)
    return folder


@pytest.fixture(scope="module")
def sounds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sounds") / "s"
    write_folder("sounds", str(folder), seed=0)
    return folder


def copy_of(folder, tmp_path, n):
    place = tmp_path / "some"
    place.mkdir()
    for path in sorted(folder.iterdir())[:n]:
        shutil.copy(path, place)
    return place


def accuracy(data, truth):
    inner = sl.CoverageClustering(random_state=0)
    model = sl.Standardized(inner, feature_names=data.feature_names).fit(data.X, bags=data.bags)
    names = np.array(model.estimator_.cluster_names_, dtype=object)[model.labels_]
    told = [(name, true) for name, true in zip(names, truth) if true is not None]
    return np.mean([name == true for name, true in told])


@pytest.mark.slow
def test_recordings_and_lists_become_named_sounds(sounds):
    from sidelight.data.synth.material import make_recordings

    data = sl.from_folder(sounds, labels=sounds / "species.csv")
    calls = {f"recording{k:02d}.wav": r.calls for k, r in enumerate(make_recordings(random_state=0), start=1)}
    truth = []
    for file, start, end in zip(data.kept["file"], data.kept["start"], data.kept["end"]):
        best = max(calls[file], key=lambda call: min(call[1], float(end)) - max(call[0], float(start)))
        truth.append(best[2] if min(best[1], float(end)) > max(best[0], float(start)) else None)
    assert data.bags.n_bags == 40
    assert accuracy(data, truth) > 0.9


@pytest.mark.slow
def test_photographs_and_tags_become_named_regions(photos, tmp_path):
    data = sl.from_folder(copy_of(photos, tmp_path, 24), labels=photos / "tags.csv")
    made = {f"photo{k:02d}.png": p for k, p in enumerate(make_photographs(random_state=0), start=1)}
    truth = []
    for file, shown in zip(data.kept["file"], data.show["show"]):
        left, top, width, height = (float(v) / 100 for v in shown.rpartition("percent:")[2].split(","))
        kind_of = made[file].kind_of
        h, w = kind_of.shape
        box = kind_of[int(top * h) : int((top + height) * h) or 1, int(left * w) : int((left + width) * w) or 1]
        counts = np.bincount(box.ravel(), minlength=6)
        truth.append(made[file].kinds[int(counts.argmax())] if counts.max() > 0.8 * counts.sum() else None)
    assert sum(t is not None for t in truth) > 50
    assert accuracy(data, truth) > 0.85


@pytest.mark.slow
def test_only_what_is_new_or_changed_is_cut_again(photos, tmp_path):
    folder, out = copy_of(photos, tmp_path, 4), tmp_path / "rows.parquet"
    first = sl.from_folder(folder, out=out)
    again = sl.from_folder(folder, out=out)
    assert any("no file had changed" in note for note in again.notes)
    np.testing.assert_array_equal(first.X, again.X)
    shutil.copy(folder / "photo01.png", folder / "photo02.png")
    (folder / "photo03.png").unlink()
    changed = sl.from_folder(folder, out=out)
    assert any("2 files had not changed, and 1 was cut" in note for note in changed.notes)
    files = changed.kept["file"].tolist()
    assert set(files) == {"photo01.png", "photo02.png", "photo04.png"}
    rows = {f: changed.X[[g == f for g in files]] for f in ("photo01.png", "photo02.png")}
    np.testing.assert_allclose(rows["photo01.png"], rows["photo02.png"])


def test_a_broken_file_is_named_and_the_rest_goes_on(photos, tmp_path):
    folder = copy_of(photos, tmp_path, 3)
    (folder / "broken.png").write_bytes(b"\x89PNG not really")
    data = sl.from_folder(folder)
    assert len(set(data.kept["file"])) == 3
    assert any("broken.png" in note for note in data.notes)


def test_what_a_folder_lost_is_told_at_the_top(tmp_path):
    place = tmp_path / "posts"
    place.mkdir()
    for k in range(6):
        (place / f"{k}.txt").write_text(f"the wren sings in the garden {'and the owl hoots' if k % 2 else ''}")
    (place / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    lists = "".join(f"{k}.txt\t{'wren; owl' if k % 2 else 'jay, owl, wren'}\n" for k in range(5))
    (tmp_path / "list.tsv").write_text(f"file\tspecies\n{lists}away.txt\twren\n")
    data = sl.read(place, label_file=tmp_path / "list.tsv", embed="none")
    told = " ".join(note for note in data.notes if getattr(note, "code", "") == TOLD)
    assert "says nothing about 2 of 7 files" in told
    assert "1 file that is not there" in told
    assert "left out: bad.pdf" in told
    assert "stand between" in told
    assert set(data.label_names) == {"wren", "owl", "jay"}


def test_pipes_are_passed_over_and_what_leads_nowhere_is_named(photos, tmp_path):
    folder = copy_of(photos, tmp_path, 2)
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes here")
    os.mkfifo(folder / "pipe.png")  # opening it would wait for ever
    os.symlink("nowhere.png", folder / "gone.png")
    data = sl.from_folder(folder)
    assert len(set(data.kept["file"])) == 2
    assert [note for note in data.notes if "left out" in note and "gone.png" in note]


@pytest.mark.slow
def test_a_folder_is_read_where_a_table_is_and_processes_change_nothing(photos, tmp_path):
    folder = copy_of(photos, tmp_path, 12)
    one = sl.from_folder(folder, n_jobs=1, out=tmp_path / "one.parquet")
    two = sl.from_folder(folder, n_jobs=2, out=tmp_path / "two.parquet")
    np.testing.assert_array_equal(one.X, two.X)
    read = sl.read(folder, label_file=photos / "tags.csv")
    assert read.bags.n_bags == 12
    assert "flowers" in read.bags.classes


def test_names_in_a_table_are_compared_without_folder_ending_and_case(photos, tmp_path):
    folder = copy_of(photos, tmp_path, 2)
    labels = tmp_path / "l.csv"
    labels.write_text("picture,what\nC:\\photos\\PHOTO01.TIF,sky & sand\nphoto02,sky\nphoto77,sand\n")
    data = sl.from_folder(folder, labels=labels)
    assert set(data.bags.classes) == {"sky", "sand"}
    assert any("1 file that is not there (photo77)" in note for note in data.notes)
    labels.write_text("picture,what\na,sky\nb,sand\n")
    with pytest.raises(InvalidData, match="names none of the 2 files"):
        sl.from_folder(folder, labels=labels)


def test_folders_of_folders_are_labels(photos, tmp_path):
    for k, path in enumerate(sorted(photos.glob("*.png"))[:6]):
        place = tmp_path / "f" / ("left" if k % 2 else "right")
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
    data = sl.from_folder(tmp_path / "f", whole=True)
    assert data.n_rows == 6
    assert set(data.y) == {"left", "right"}


@pytest.mark.slow
def test_a_mixed_folder_is_asked_about(photos, sounds, tmp_path):
    folder = copy_of(photos, tmp_path, 3)
    shutil.copy(sounds / "recording01.wav", folder)
    assert len(set(sl.from_folder(folder).kept["file"])) == 3  # one stray file makes no mixture
    shutil.copy(sounds / "recording01.wav", folder / "recording02.wav")
    with pytest.raises(InvalidData, match="one kind of rows"):
        sl.from_folder(folder)
    assert len(set(sl.from_folder(folder, kind="pictures").kept["file"])) == 3


def test_selection_tables_beside_recordings_are_the_rows(sounds, tmp_path):
    folder = tmp_path / "s"
    folder.mkdir()
    shutil.copy(sounds / "recording01.wav", folder)
    (folder / "recording01.txt").write_text("0.5\t0.9\twren\n1.5\t2.0\towl\n")
    data = sl.from_folder(folder, kind="sounds")
    assert data.y.tolist() == ["wren", "owl"]
    assert data.kept["start"].astype(float).tolist() == [0.5, 1.5]


def test_the_recipe_travels_in_the_table_and_damage_is_refused(photos, tmp_path):
    out = tmp_path / "rows.parquet"
    sl.from_folder(copy_of(photos, tmp_path, 2), regions=3, out=out)
    material = material_of(out)
    assert material.kind == "pictures"
    assert material.recipe == {"regions": 3, "whole": False}
    assert Material.from_json(material.to_json()) == material
    for text in ("{}", "[]", "no", '{"version": 9, "kind": "pictures", "recipe": {}}'):
        with pytest.raises(InvalidData, match="damaged"):
            Material.from_json(text)
    plain = pl.read_parquet(out)
    plain.write_parquet(tmp_path / "plain.parquet")
    assert material_of(tmp_path / "plain.parquet") is None


def own_rows(path):
    return [{"size": float(os.path.getsize(path)), "name length": float(len(os.path.basename(path)))}]


def test_an_extractor_of_ones_own(photos, tmp_path):
    data = sl.from_folder(copy_of(photos, tmp_path, 2), extractor=f"{__name__}:own_rows", n_jobs=1)
    assert data.feature_names == ("size", "name length")
    with pytest.raises(InvalidParameter, match="cannot be found"):
        sl.from_folder(tmp_path / "some", extractor="nothing.like:this", out=tmp_path / "x.parquet")


def test_folders_without_material_say_what_they_hold(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableFile, match="holds nothing"):
        sl.from_folder(tmp_path / "empty")
    with pytest.raises(UnreadableFile, match="no such folder"):
        sl.from_folder(tmp_path / "nowhere")
    Image.new("RGB", (4, 4)).save(tmp_path / "empty" / "a.png")
    with pytest.raises(InvalidParameter, match=r"must end with \.parquet"):
        sl.from_folder(tmp_path / "empty", out=tmp_path / "x.csv")
