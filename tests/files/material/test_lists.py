"""What lies in a folder, and what is said about its files."""

from __future__ import annotations

import json

import pytest

from sidelight.errors import InvalidData, InvalidParameter, SidelightError, UnreadableFile
from sidelight.files.material.labels import labels_from_folders, labels_from_table, selections_beside
from sidelight.files.material.listing import Listing
from sidelight.files.material.rows import Material, cut_file, cut_folder, make_table, material_of, plan_material


def fill(folder, *names, text="word"):
    """Write files."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


# ---- what lies there


def test_a_listing_passes_over_hidden_files_and_counts_the_others(tmp_path):
    found = Listing.of(fill(tmp_path, "b.WAV", "a.wav", "in/c.txt", ".d.txt", ".in/e.txt", "f.xyz", "12"))
    assert found.files == {"sounds": ("a.wav", "b.WAV"), "texts": ("in/c.txt",)}
    assert found.other == 2
    assert found.in_words() == "2 sounds, 1 text and 2 other files"
    with pytest.raises(UnreadableFile, match="no such folder"):
        Listing.of(tmp_path / "none")


def test_files_without_an_ending_are_texts_where_nothing_else_is(tmp_path):
    found = Listing.of(fill(tmp_path, "12345", "12.", "in/7.8", "f.xyz"))
    assert found.files == {"texts": ("12.", "12345", "in/7.8")}
    assert found.other == 1


def test_a_folder_is_about_the_kind_that_outweighs_the_others(tmp_path):
    assert Listing(tmp_path, {}, 3).kind() is None
    assert Listing(tmp_path, {"tables": ("a.csv",)}, 3).kind() is None
    ten = tuple(f"{i}.wav" for i in range(10))
    assert Listing(tmp_path, {"sounds": ten, "texts": ("a.txt",)}, 0).kind() == "sounds"
    assert Listing(tmp_path, {"sounds": ten[:3], "texts": ("notes.txt",)}, 0).kind() == "sounds"
    for sounds, texts in ((ten, ("a.txt", "b.txt")), (ten[:1], ("a.txt",))):
        with pytest.raises(InvalidData, match="one kind of rows"):
            Listing(tmp_path, {"sounds": sounds, "texts": texts}, 0).kind()
    assert Listing(tmp_path, {}, 0).in_words() == "nothing"


# ---- what is said


FILES = ("x/a.wav", "x/b.wav", "y/c.wav")


def said(tmp_path, text, name="lists.csv", files=FILES, **how):
    """Read a table of labels."""
    (tmp_path / name).write_text(text)
    found = labels_from_table(tmp_path / name, files, **how)
    return {file: "".join(sorted(labels)) for file, labels in found.lists.items()}, found


@pytest.mark.parametrize(
    "text",
    [
        "file,species\na.wav,p;q\nb,q\nC.WAV,p\n",
        "file,species\na.wav,p\na.wav,q\nb.wav,q\nc.wav,p\n",
        "p,q,file\n1,1,a\n0,1,b\n1,0,c\n",
        "note,tags,file\nlong,p;q,\\u\\a.wav\nsome,q,b\nnone,p,c\n",
        "n,what,file\n7,p;q,a\n8,q,b\n9,p,c\n",
    ],
)
def test_a_table_of_lists_in_any_layout(tmp_path, text):
    lists, found = said(tmp_path, text)
    assert lists == {"x/a.wav": "pq", "x/b.wav": "q", "y/c.wav": "p"}
    assert (list(found.notes), found.are_of_folders) == ([], False)


def test_a_table_may_speak_of_folders(tmp_path):
    lists, found = said(tmp_path, "folder,species\nX,p;q\n/data/y/,q\nz,p\n")
    assert lists == {"x/a.wav": "pq", "x/b.wav": "pq", "y/c.wav": "q"}
    assert found.are_of_folders
    assert [note.split("(")[0] for note in found.notes] == [
        "lists.csv speaks of folders: the files of a folder are a bag",
        "lists.csv speaks of 1 folder that is not there ",
    ]
    assert "(z)" in found.notes[1]


def test_files_that_a_table_does_not_name_and_names_that_are_no_files_are_told(tmp_path):
    lists, found = said(tmp_path, "file,species\na.wav,p\nB2.wav,q\nb3.wav,q\nc.wav,\n")
    assert lists == {"x/a.wav": "p"}
    assert [note.split("(")[0] for note in found.notes] == [
        "lists.csv says nothing about 2 of 3 files ", "lists.csv speaks of 2 files that are not there ",
    ]  # fmt: skip
    assert "B2.wav" in found.notes[1]
    for wrong, match in (("file,species\nu,p\nv,q\n", "names none"), ("file\na.wav\nb.wav\n", "single column")):
        with pytest.raises(InvalidData, match=match):
            said(tmp_path, wrong)


def test_a_selection_table_lists_its_recordings(tmp_path):
    text = "Start (s),End (s),Common name,Confidence,File\n0,3,p,0.9,a.wav\n3,6,q,0.2,a.wav\n0,3,q,0.9,/u/b.wav\n"
    assert said(tmp_path, text)[0] == {"x/a.wav": "pq", "x/b.wav": "q"}
    assert said(tmp_path, text, min_confidence=0.5)[0] == {"x/a.wav": "p", "x/b.wav": "q"}
    assert said(tmp_path, "0\t1\tp\n", "a.selections.txt")[0] == {"x/a.wav": "p"}


def test_folders_are_labels_where_most_files_lie_in_several(tmp_path):
    assert labels_from_folders(FILES) == {"x/a.wav": {"x"}, "x/b.wav": {"x"}, "y/c.wav": {"y"}}
    assert labels_from_folders(("x/a.wav", "x/b.wav")) == {}
    nine = [f"{'xy'[i % 2]}/{i}.wav" for i in range(9)]
    assert len(labels_from_folders([*nine, "top.wav"])) == 9
    assert labels_from_folders([*nine[:8], "top.wav"]) == {}


def test_selection_tables_lie_beside_their_recordings(tmp_path):
    fill(tmp_path, "a.Table.1.selections.txt", "b.txt", text="0\t1\tp\n2\t3\tq\n")
    fill(tmp_path, "notes.txt", text="hello")
    fill(tmp_path, "all.csv", text="Start (s),End (s),Label,File\n5,6,r,A.wav\n5,6,s,none.wav\n")
    tables = ("a.Table.1.selections.txt", "b.txt", "notes.txt", "all.csv")
    found = selections_beside(tables, tmp_path, ("a.wav", "b.wav", "c.wav"))
    assert {name: [one.label for one in marked] for name, marked in found.items()} == {
        "a.wav": ["p", "q", "r"], "b.wav": ["p", "q"],
    }  # fmt: skip


# ---- rows


OWN = f"{__name__}:rows_of"


def rows_of(file):
    """Make rows of a file, as an extractor of a user does."""
    if "bad" in file:
        raise MemoryError
    return [{"size": float(len(file) % 7), "n": k} for k in range(2 if "two" in file else 1)]


def test_rows_are_counted_within_their_file_unless_there_is_one(tmp_path):
    folder = fill(tmp_path / "f", "one.txt", "two.wav", "bad.txt")
    made, notes = make_table(folder, tmp_path / "out.parquet", extractor=OWN, settings={}, n_jobs=1)
    import polars as pl

    frame = pl.read_parquet(tmp_path / "out.parquet")
    assert frame["row"].to_list() == ["two.wav#1", "two.wav#2", "one.txt"]
    assert frame["file"].to_list() == ["two.wav", "two.wav", "one.txt"]
    assert frame["show"].to_list() == ["f/two.wav", "f/two.wav", "f/one.txt"]
    assert (made.kind, made.extractor, list(made.omitted)) == ("rows", OWN, ["bad.txt"])
    assert notes == ["left out: bad.txt: out of memory"]
    assert made.roles["features"] == ["size", "n"]
    assert set(made.files) == {"one.txt", "two.wav", "bad.txt"}


def test_only_files_that_are_new_or_changed_are_cut_again(tmp_path):
    folder = fill(tmp_path / "f", "a.txt", "b.txt", "bad.txt", "empty.txt")
    (folder / "empty.txt").write_text(" ")
    out = tmp_path / "out.parquet"

    def again(**how):
        return make_table(folder, out, settings={}, **how)[1]

    assert again(extractor=OWN) == ["left out: bad.txt: out of memory"]
    assert "no file had changed" in again(extractor=OWN)
    fill(folder, "b.txt", text="other")
    fill(folder, "c.txt", "d.txt")
    assert "3 files had not changed, and 3 were cut" in again(extractor=OWN)
    fill(folder, "c.txt", text="other")
    told = again(extractor=OWN)
    assert "5 files had not changed, and 1 was cut" in told
    assert "left out: bad.txt: out of memory" in told
    assert again()[-1] == "no row was found in 1 file (empty.txt)"  # cut in another way: all of it anew
    assert material_of(out).kind == "texts"


def test_texts_are_cut_into_files_or_paragraphs(tmp_path):
    import polars as pl

    folder = fill(tmp_path / "f", "a/1.txt", "b/2.txt", text="one two\n\nthree four\n \n")
    made, notes = make_table(folder, tmp_path / "out.parquet", settings={"regions": 3})
    assert (made.recipe, made.roles.get("bag")) == ({"by": "file"}, None)
    assert notes == ["the folder that a file lies in was taken for its label"]
    frame = pl.read_parquet(tmp_path / "out.parquet")
    assert frame["labels"].to_list() == ["a", "b"]
    assert (made.roles["label"], made.roles["text"], made.roles["show"]) == ("labels", ["text"], "text")
    made, _ = make_table(folder, tmp_path / "out.parquet", settings={"by": "paragraph"})
    assert pl.read_parquet(tmp_path / "out.parquet")["text"].to_list() == ["one two", "three four"] * 2
    assert made.roles["bag"] == "file"


def test_what_a_folder_is_cut_into_is_planned_or_refused(tmp_path):
    listing = Listing.of(fill(tmp_path, "a.txt", "b.txt", "c.wav", text="not a sound"))
    assert plan_material(listing, "texts", {"by": "paragraph", "rate": 5}).recipe == {"by": "paragraph"}
    assert plan_material(listing, "sounds", {"rate": 8000}).recipe["rate"] == 8000
    assert plan_material(listing, "sounds", {}).recipe["rate"] > 0
    for kind, extractor, error in (
        ("pictures", "", UnreadableFile), ("tables", "", UnreadableFile), (None, "", InvalidData),
        (None, "nowhere:f", InvalidParameter), (None, "json", InvalidParameter),
        (None, "json:__doc__", InvalidParameter),
    ):  # fmt: skip
        with pytest.raises(error):
            plan_material(listing, kind, {}, extractor)
    with pytest.raises(InvalidParameter, match="kind is one of"):
        plan_material(Listing(tmp_path, {"tables": ("a.csv",)}, 0), "tables", {})


def test_a_recipe_survives_as_text_and_damage_is_refused(tmp_path):
    made = Material("texts", {"by": "file"}, {"id": "row"}, {"a": "1"}, {"b": "damaged"}, "m:f")
    assert Material.from_json(made.to_json()) == made
    assert made.without_files() == Material("texts", {"by": "file"}, {"id": "row"}, extractor="m:f")
    content = json.loads(made.to_json())
    for damage in ({"version": 2}, {"kind": 5}):
        with pytest.raises(InvalidData, match="damaged"):
            Material.from_json(json.dumps(content | damage))
    for wrong in (Material("nothing", {}), Material("texts", {"rate": 5})):
        with pytest.raises(SidelightError, match="no way to cut"):
            wrong.cutter()


def test_a_file_that_cannot_be_read_says_so_without_its_folder(tmp_path):
    cut = cut_file(tmp_path, "none.txt", Material("texts", {"by": "file"}))
    assert (cut.file, list(cut.rows)) == ("none.txt", [])
    assert cut.reason.startswith("none.txt: cannot be read")
    listing = Listing.of(fill(tmp_path, "a.txt"))
    (cut,) = cut_folder(listing, Material("texts", {"by": "file"}), ["a.txt"], n_jobs=2, selections={})
    assert list(cut.rows) == [{"text": "word"}]
