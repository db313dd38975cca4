"""Folders through the whole application: from, a job, its page, predict on new material, and export."""

from __future__ import annotations

import json
import re
import shutil

import polars as pl
import pytest
from click.testing import CliRunner

from sidelight.app.cli.app import app
from sidelight.app.jobs.media import WHOLE, Fragment
from sidelight.app.jobs.samples import write_folder
from sidelight.errors import InvalidData, SidelightError
from sidelight.files.material.selections import read_selections

pytest.importorskip("soundfile", reason="recordings need the extra audio")


def sidelight(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SIDELIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def birds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("birds") / "birds"
    write_folder("sounds", str(folder), seed=1)
    for path in sorted(folder.glob("*.wav"))[16:]:
        path.unlink()
    return folder


def test_from_a_folder_to_named_sounds_in_two_commands_and_back_to_raven(birds, tmp_path):
    told = sidelight("from", birds, "--labels", birds / "species.csv", "--out", "rows.parquet")
    assert "16 files became" in told
    again = sidelight("from", birds, "--labels", birds / "species.csv", "--out", "rows.parquet")
    assert "No file had changed." in again
    assert "species.csv speaks of 24 files that are not there" in again  # a name of a file gets no capital
    sidelight("instances", "rows.parquet", "--out", "results", "-q")
    found = pl.read_csv("results/assignments.csv")
    assert {"file", "start", "end", "label"} <= set(found.columns)
    page = (tmp_path / "results" / "report.html").read_text()
    assert "data:audio/wav" in page  # one can listen to the sounds
    told = sidelight("export", "results", "--as", "raven", "--out", "selections")
    assert "16 recordings" in told
    tables = sorted((tmp_path / "selections").glob("*.txt"))
    assert len(tables) == 16
    back = [one for table in tables for one in read_selections(table)]
    assert len(back) == found.height
    assert {one.label for one in back} == set(found["label"])
    sidelight("export", "results", "--as", "label-studio", "--out", "tasks.json")
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert tasks[0]["predictions"][0]["result"][0]["value"]["choices"] == [found["label"][0]]


@pytest.mark.slow
def test_a_job_takes_a_folder_and_the_model_cuts_new_ones_in_the_same_way(birds, tmp_path):
    sidelight("instances", birds, "--label-file", birds / "species.csv", "--out", "results", "-q")
    new = tmp_path / "new"
    new.mkdir()
    for path in sorted(birds.glob("*.wav"))[:2]:
        shutil.copy(path, new)
    sidelight("predict", "results", new, "--out", "placed.csv", "-q")
    placed = pl.read_csv("placed.csv")
    before = pl.read_csv("results/assignments.csv").filter(pl.col("file").is_in(["recording01.wav", "recording02.wav"]))
    assert placed.height == before.height
    assert (placed["label"] == before["label"]).mean() > 0.9


def test_a_model_of_a_table_refuses_a_folder(birds, tmp_path):
    sidelight("sample", "iris", "iris.csv")
    sidelight("relations", "iris.csv", "-k", 3, "--out", "results", "-q")
    with pytest.raises(InvalidData, match="was not fitted to rows that were cut from one"):
        sidelight("predict", "results", birds, "--out", "placed.csv")


def test_export_says_what_it_needs(tmp_path):
    sidelight("sample", "iris", "iris.csv")
    sidelight("relations", "iris.csv", "-k", 3, "--out", "results", "-q")
    with pytest.raises(SidelightError, match="need the columns file, start and end"):
        sidelight("export", "results", "--as", "audacity", "--out", "selections")


@pytest.fixture
def tagged(tmp_path):
    """Photographs as JPEG in two folders, with tags, and their names."""
    from PIL import Image

    write_folder("pictures", "drawn", seed=1)
    (tmp_path / "photos" / "1957").mkdir(parents=True)
    names = []
    for number, path in enumerate(sorted((tmp_path / "drawn").glob("*.png"))[:24]):
        names.append(f"1957/{path.stem}.jpg" if number % 2 else f"{path.stem}.jpg")
        Image.open(path).convert("RGB").save(tmp_path / "photos" / names[-1])
    lists = dict(pl.read_csv("drawn/tags.csv").iter_rows())
    lines = [f"{name},{lists[name.split('/')[-1].replace('.jpg', '.png')]}" for name in names]
    (tmp_path / "tags.csv").write_text("\n".join(["file,tags", *lines]), encoding="utf-8")
    return names


def test_keywords_go_beside_photographs_and_into_them_only_on_request(tagged, tmp_path):
    sidelight("instances", "photos", "--labels", "tags.csv", "--embed", "none", "--out", "results", "-q")
    photographs = [tmp_path / "photos" / name for name in tagged]
    before = [path.read_bytes() for path in photographs]
    assert "24 photographs" in sidelight("export", "results", "--as", "digikam", "--out", "sidecars")
    sidelight("export", "results", "--as", "lightroom")
    assert [path.read_bytes() for path in photographs] == before
    names = set(pl.read_csv("results/assignments.csv").filter(pl.col("file") == tagged[1])["label"])
    for path in (tmp_path / "sidecars" / f"{tagged[1]}.xmp", photographs[1].with_suffix(".xmp")):
        assert all(f"<rdf:li>{name}</rdf:li>" in path.read_text(encoding="utf-8") for name in names)
    lists = dict(pl.read_csv("tags.csv").iter_rows())
    beside = photographs[0].with_suffix(".xmp").read_text(encoding="utf-8")
    assert all(f"<rdf:li>{tag}</rdf:li>" in beside for tag in lists[tagged[0]].split("|"))  # no tag is lost
    sidelight("export", "results", "--as", "lightroom", "--write-originals")
    assert b"<rdf:li>" in photographs[1].read_bytes()
    (tmp_path / "elsewhere").mkdir()
    shutil.copy("results/assignments.csv", "elsewhere")
    with pytest.raises(InvalidData, match="not the run of a folder"):
        sidelight("export", "elsewhere", "--as", "digikam", "--out", "more")


def _results_of_photographs(tmp_path, lines):
    (tmp_path / "photos").mkdir()
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "run.toml").write_text('job = "instances"\ntable = "../photos"\n', encoding="utf-8")
    text = "\n".join(["row,file,label,probability", *lines]) + "\n"
    (tmp_path / "results" / "assignments.csv").write_text(text, encoding="utf-8")


def test_photographs_that_share_a_file_of_keywords_both_have_theirs(tmp_path):
    _results_of_photographs(tmp_path, ["0,a.jpg,wren,0.9", "1,a.png,owl,0.9"])
    sidelight("export", "results", "--as", "lightroom")
    packet = (tmp_path / "photos" / "a.xmp").read_text(encoding="utf-8")
    assert "<rdf:li>wren</rdf:li>" in packet
    assert "<rdf:li>owl</rdf:li>" in packet


def test_a_probability_that_is_no_number_is_told_by_row(tmp_path):
    _results_of_photographs(tmp_path, ["0,a.jpg,wren,0.9", "1,b.jpg,owl,likely"])
    with pytest.raises(InvalidData, match=r"'probability', row 2, got 'likely'"):
        sidelight("export", "results", "--as", "lightroom")


def test_one_damaged_photograph_keeps_all_as_they_are(tagged, tmp_path):
    sidelight("instances", "photos", "--labels", "tags.csv", "--embed", "none", "--out", "results", "-q")
    last = tmp_path / "photos" / sorted(tagged)[-1]
    last.write_bytes(last.read_bytes()[:1] + b"no JPEG any more")
    before = {path: path.read_bytes() for path in (tmp_path / "photos").rglob("*.jpg")}
    with pytest.raises(SidelightError, match="not a JPEG file"):
        sidelight("export", "results", "--as", "digikam", "--write-originals")
    assert {path: path.read_bytes() for path in (tmp_path / "photos").rglob("*.jpg")} == before
    assert not list((tmp_path / "photos").rglob("*.xmp"))


def test_tags_of_a_photograph_are_not_copied_onto_its_regions(tagged, tmp_path):
    sidelight("hierarchy", "photos", "--labels", "tags.csv", "--embed", "none", "--out", "results", "-q")
    found = pl.read_csv("results/assignments.csv")
    assert sorted(found["file"]) == sorted(tagged)  # one line a photograph
    sidelight("predict", "results", "photos", "--out", "placed.csv", "-q")
    assert pl.read_csv("placed.csv").height == len(tagged)


def test_fragments_name_parts_of_media():
    assert Fragment.split("a b.wav#t=1.5,2.0") == ("a b.wav", Fragment(1.4, 2.1))
    assert Fragment.split("p.jpg#xywh=percent:10,0,50,40")[1].box == (10.0, 0.0, 50.0, 40.0)
    for text in ("plain.wav", "odd#name.wav", "a.wav#t=2,1", "a.wav#t=x,y", "#t=1,2,3"):
        assert Fragment.split(text) == (text, WHOLE)


def test_samples_of_folders_are_listed_and_written(tmp_path):
    assert re.search(r"sounds +Forty recordings", sidelight("sample"))
    sidelight("sample", "letters", "letters")
    n_letters = len(list((tmp_path / "letters").glob("box*/*.txt")))
    assert n_letters > 90
    assert f"{n_letters} texts" in sidelight("describe", "letters")


@pytest.mark.slow
def test_letters_in_boxes_are_named_in_two_commands_and_new_ones_with_other_words_are_placed(tmp_path):
    from sidelight.data.synth.material import make_letters

    sidelight("sample", "letters", "letters")
    sidelight("instances", "letters", "--labels", "letters/topics.csv", "--out", "results", "-q")
    truth = {f"letter{k:03d}.txt": letter.topic for k, letter in enumerate(make_letters(random_state=0), start=1)}
    found = pl.read_csv("results/assignments.csv")
    right = [truth[file.rpartition("/")[2]] == label for file, label in zip(found["file"], found["label"])]
    assert sum(right) > 0.95 * len(right)
    page = (tmp_path / "results" / "report.html").read_text()
    assert "kind that nobody listed (p" in page  # the page of raw material asks whether lists are complete
    new = tmp_path / "new"
    new.mkdir()
    (new / "a.txt").write_text("The captain left his ship at the quay; the anchor and the mast are rusty. Xylophagous!")
    (new / "b.html").write_text("<html><head><title>x</title></head><p>The choir and the orchestra play a hymn</html>")
    sidelight("predict", "results", new, "--out", "placed.csv", "-q")
    assert pl.read_csv("placed.csv")["label"].to_list() == ["harbour", "music"]


def test_a_new_table_of_texts_lacks_words_and_has_others(tmp_path):
    good, bad = ["lovely", "bright", "sunny", "warm", "happy"], ["awful", "dark", "rainy", "cold", "sad"]
    lines = [" ".join((good if i % 2 else bad)[j % 5] for j in range(i, i + 3)) + f" day,{i}" for i in range(40)]
    (tmp_path / "old.csv").write_text("review,n\n" + "\n".join(lines) + "\n")
    (tmp_path / "new.csv").write_text("n,review\n1,what a lovely zebra\n2,awful\n3,nothing of the kind\n")
    sidelight("relations", "old.csv", "--text", "review", "-k", 2, "--out", "results", "-q")
    sidelight("predict", "results", "new.csv", "--out", "placed.csv", "-q")
    placed = pl.read_csv("placed.csv")
    old = pl.read_csv("results/assignments.csv")["cluster"].to_list()
    assert placed["cluster"].to_list()[:2] == [old[1], old[0]]
    assert placed.height == 3


@pytest.mark.slow
def test_every_feature_of_a_sound_is_used(birds):
    from sidelight import read
    from sidelight.files.material.sounds import SoundRecipe

    sidelight("from", birds, "--embed", "none", "--out", "rows.parquet", "-q")
    assert read("rows.parquet").feature_names == SoundRecipe().feature_names  # "mean time" is no time


@pytest.mark.slow
def test_a_folder_and_the_table_beside_it_lead_to_each_other(birds, tmp_path):
    folder, table = tmp_path / "my birds", tmp_path / "heard.csv"
    shutil.copytree(birds, folder)
    (folder / "species.csv").rename(table)
    (tmp_path / "prices.csv").write_text("name,price\nmilk,1\nbread,2\n")
    line = "sidelight instances 'my birds' --label-file heard.csv --out results"
    assert line in sidelight("describe", "my birds")
    assert line in sidelight("describe", "heard.csv")
    table.unlink()
    told = sidelight("describe", "my birds")
    assert "with a table that lists the labels of each file" in told
    assert "sidelight instances 'my birds' --label-file TABLE --out results" in told
    assert "TABLE" not in sidelight("describe", birds)  # its lists lie inside


def test_a_folder_for_each_kind_offers_what_learns_from_them(tmp_path):
    for kind, words in (("boats", "sail mast keel anchor"), ("trees", "leaf root bark branch")):
        (tmp_path / "kinds" / kind).mkdir(parents=True)
        for k in range(12):
            more = " ".join(words.split()[k % 3 :]) + f" the {k % 4} and {k % 5}"
            (tmp_path / "kinds" / kind / f"{k}.txt").write_text(f"{words} {more}")
    sidelight("from", "kinds", "--out", "kinds.parquet")
    told = sidelight("describe", "kinds.parquet")
    first = told.split("Commands that fit")[1].splitlines()[2].split()
    assert first[:2] == ["sidelight", "instances"]
    sidelight(*first[1:], "-q")
    found = pl.read_csv("results/assignments.csv")
    assert (found["label"] == [name.split("/")[0] for name in found["bag"]]).all()


def test_whole_recordings_are_counted_as_recordings(birds):
    assert "16 files became 16 recordings" in sidelight("from", birds, "--whole", "--out", "rows.parquet")
