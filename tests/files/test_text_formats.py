"""svmlight, C4.5, KEEL, documents and folders of them; and delimited text by a loop and by polars."""

from __future__ import annotations

import io
import tarfile
import zipfile

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import SidelightError, UnreadableFile
from sidelight.files.problems import noticing
from sidelight.files.roles.plan import asked
from sidelight.files.source import Source
from sidelight.files.streaming import RowsInBlocks
from sidelight.files.text import blocks, delimited, folder
from sidelight.files.text import folder as documents
from sidelight.files.text.folder import dotted_labels, text_in, without_mail_header


def put(tmp_path, name, text):
    """Write a file."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def role_of(data):
    """Return the role of every column."""
    return {role.name: role.role for role in data.roles}


# ---- svmlight


def svm(tmp_path, text, **said):
    """Read rows of index:value."""
    return sl.read(put(tmp_path, "a.svm", text), format="svmlight", **said)


def test_rows_of_pairs(tmp_path):
    data = svm(tmp_path, "+1 1:0.5 3:2 # note\n\n-1.0 2:1\nword 1:1e3\n1:4\n")
    assert data.X.toarray().tolist() == [[0.5, 0, 2], [0, 1, 0], [1000, 0, 0], [4, 0, 0]]
    assert data.y.tolist() == ["1", "-1", "word", ""]
    assert data.feature_names == ("f1", "f2", "f3")
    assert (data.format, data.path) == ("svmlight", str(tmp_path / "a.svm"))
    assert role_of(data) == {"label": "label", "1..3": "feature"}
    assert role_of(svm(tmp_path, "1 0:1 2:1\n")) == {"label": "label", "0..2": "feature"}
    data = svm(tmp_path, "+1 1:0.5\n", label=False)
    assert (data.y, role_of(data)["label"]) == (None, "ignored")
    assert svm(tmp_path, "1:0.5\n2:1\n").y is None
    assert svm(tmp_path, "1e15 1:1\n1e14 1:1\nnan 1:1\n1.5 1:1\n").y.tolist() == ["1e15", str(10**14), "", "1.5"]
    assert svm(tmp_path, "1\n2\n").X.shape == (2, 0)


def test_bags_of_rows_of_pairs(tmp_path):
    data = svm(tmp_path, "3 5\n0:7:1 1:2\n1:7:-1 2:1\n2:9:1 1:1\n")
    assert (data.bags.names, data.bags.codes.tolist()) == ((7, 9), [0, 0, 1])
    assert data.y.tolist() == ["1", "-1", "1"]
    assert svm(tmp_path, "1 qid:3 1:2\n2 qid:3 1:1\n", bag=False).bags is None
    assert role_of(svm(tmp_path, "1 qid:3 1:2\n"))["bag"] == "bag"
    assert svm(tmp_path, "1 2\n3 4\n1 1:1\n").n_rows == 1  # counts stand above the first row


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("1 1:2\n1 2\n", "line 2"), ("1 1:2\n1 x:2\n", "line 2"), ("1 1:2\n1 1:z\n", "line 2"), ("1 1:\n", "line 1"),
        ("1 -1:2\n", "line 1"), (f"1 {2**31}:2\n", "line 1"), ("1 1:2:3\n", "line"), ("1 ٣:2\n", "line 1"),
        ("1 1:2\n1 2:2 1:3 2:4\n", "row 2: the index 2 comes twice"), ("1 0:2 0:4\n", "row 1: the index 0"),
        ("1 qid:3 1:2\n1 1:2\n", "1 of 2 rows name a bag"), ("# nothing\n", "expected rows"),
    ],
)  # fmt: skip
def test_rows_of_pairs_that_are_wrong(tmp_path, text, where):
    with pytest.raises(UnreadableFile, match=where):
        svm(tmp_path, text)


# ---- C4.5


MUSK = "m1,c1,1,2,yes.\nm1,c2,3,?,yes.\nm2,c1,5,6,no. | note\n\n"


def c45(tmp_path, text, names=None, **said):
    """Read a C4.5 file, with the names beside it."""
    if names is not None:
        put(tmp_path, "a.names", names)
    return sl.read(put(tmp_path, "a.data", text), format="c45", **said)


def test_bags_of_c45(tmp_path):
    data = c45(tmp_path, MUSK)
    assert data.feature_names == ("f0", "f1")
    assert np.array_equal(data.X, [[1, 2], [3, np.nan], [5, 6]], equal_nan=True)
    assert dict(data.bags.labels) == {"m1": {"yes"}, "m2": {"no"}}
    assert role_of(data) == {"bag": "bag", "instance": "ignored", "f0": "feature", "f1": "feature", "class": "label"}
    assert data.format == "C4.5 multi-instance"
    names = "| n\nyes,no.\nmolecule_name: m1,m2.\nconf: c1,c2.\nx: continuous.\ny: continuous.\n"
    data = c45(tmp_path, MUSK, names)
    assert (data.feature_names, data.columns("bag")) == (("x", "y"), ("molecule_name",))


@pytest.mark.parametrize(
    "text",
    [
        "m1,c1,1,yes.\nm2,c1,3,yes.\n",  # nothing comes back
        "m1,c1,1,yes.\nm1,c1,3,yes.\n",  # nothing tells rows apart
        "m1,1,yes.\nm1,2,yes.\n",  # three columns
    ],
)
def test_rows_of_c45_without_bags(tmp_path, text):
    with pytest.raises(SidelightError, match="expected a number"):
        c45(tmp_path, text)
    assert c45(tmp_path, text.replace("m", "").replace("c", "")).bags is None


def test_names_of_c45_say_what_columns_are(tmp_path):
    text = "1,u,5,yes.\n1,v,NA,no.\n2,u,7,yes.\n"
    names = "yes,no.\nsize: continuous.\ncolour: u, v.\nlevel: 5, 7.\n"
    data = c45(tmp_path, text, names)
    assert (data.bags, data.y.tolist(), data.format) == (None, ["yes", "no", "yes"], "C4.5")
    assert data.feature_names[0] == "size"
    assert "level" in data.feature_names
    assert c45(tmp_path, "1,2,yes.\n3,4,no.\n", "yes,no.\nclass: continuous.\nb: continuous.\n").feature_names == (
        "f0", "f1",
    )  # fmt: skip
    assert c45(tmp_path, "1,2,yes.\n3,4,no.\n", "yes,no.\na: continuous.\n").feature_names == ("f0", "f1")
    assert c45(tmp_path, "1,2,yes.\n3,4,no.\n", "| nothing\n").feature_names == ("f0", "f1")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("1,2,yes.\n1,yes.\n", "line 2"),
        ("1,2,yes.\n1,2,no\n", "line 2"),
        ("1,2,yes.\n1,z,no.\n", "line 2"),
        ("\n", "rows"),
    ],
)
def test_c45_that_is_wrong(tmp_path, text, where):
    with pytest.raises(SidelightError, match=where):
        c45(tmp_path, text)


# ---- KEEL


def keel(tmp_path, lines, rows, **said):
    """Read a KEEL file of these attributes."""
    return sl.read(
        put(tmp_path, "a.dat", "\n".join(["@relation r", *lines, "@data", *rows]) + "\n"), format="keel", **said
    )


@pytest.mark.parametrize(
    ("lines", "features", "label"),
    [
        (["@inputs a", "@outputs c"], ("a",), ("c",)),
        (["@input a, b", "@output c"], ("a", "b"), ("c",)),
        (["@outputs b"], ("a", "c=x", "c=y"), ("b",)),
        ([], ("a", "b"), ("c",)),
        (["@outputs nothing"], ("a", "b"), ("c",)),
        (["@inputs a,b,c"], ("a", "b"), ("c",)),
    ],
)
def test_inputs_and_outputs(tmp_path, lines, features, label):
    head = ["% n", "@attribute a real [0, 1]", "@attribute 'b' integer", '@attribute "c" {x,y}']
    data = keel(tmp_path, [*head, *lines], ["% n", "0.5,1,x", "<null>,2,y", "1,3,<null>"])
    assert (data.feature_names, data.columns("label")) == (features, label)
    assert np.isnan(data.X[1, 0])
    assert (data.format, data.row_ids) == ("KEEL", None)


def test_keel_that_is_wrong(tmp_path):
    head = ["@attribute a real", "@attribute c {x,y}"]
    for lines, rows, where in (
        (head, ["1,x", "2"], "line 6"), (head, ["1,x", "z,y"], "line 6, column 'a'"), (head, [], "expected rows"),
        (["@attribute"], ["1"], "line 2"), (["hello", *head], ["1,x"], "line 2"), ([], ["1"], "line 3"),
    ):  # fmt: skip
        with pytest.raises(SidelightError, match=where):
            keel(tmp_path, lines, rows)
    data = keel(tmp_path, ["@attribute a real", "@attribute b real", "@outputs a,b"], ["1,0", "0,1"])
    assert data.columns("label") == ("a", "b")
    assert keel(tmp_path, ["@attribute c {x,y}", "@attribute b real"], ["x,1", "y,2"]).feature_names[-1] == "b"


# ---- documents


def told(function, *args):
    """Return what a function returns, and what it says on the way."""
    with noticing() as notes:
        found = function(*args)
    return found, list(notes)


def test_the_text_of_a_document():
    for name, content, text in [
        ("a.txt", b"one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("a.txt", "é".encode("latin-1"), "é"),
        ("a.txt", "é".encode("utf-16"), "é"),
        ("a.html", b"<p>one<b> two</b>", "\n\none two"),
        ("a.txt", b"<!DOCTYPE html><head>x</head><p>one  two", "\n\none two"),
        ("a.txt", b"  <HTML>one<script>x</script>", " one"),
        ("a.txt", b"<p>one", "<p>one"),
        ("a.html", b"</script>one", "one"),
        ("a.html", b"<template>x<template>y</template>z</template>one", "one"),
    ]:
        assert text_in(name, content) == text


def test_the_encoding_that_was_said_is_believed():
    assert text_in("a.txt", "é".encode(), "latin-1") == "Ã©"


def word(text, name="word/document.xml"):
    """Return a Word document."""
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    parts = "".join(f"<w:p><w:r><w:t>{part[:2]}</w:t><w:t>{part[2:]}</w:t></w:r></w:p>" for part in text.split("|"))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, f'<w:document xmlns:w="{space}"><w:body>{parts}</w:body></w:document>')
    return out.getvalue()


def test_word_documents_and_what_is_none(monkeypatch):
    assert text_in("a.docx", word("one|two")) == "one\n\ntwo"
    assert text_in("a.txt", word("one")) == "one"
    for name, content in (
        ("a.docx", b"one"), ("a.docx", word("one", "other.xml")), ("a.pdf", b"one"), ("a.txt", b"a\0b"),
        ("a.docx", word("<!ENTITY x>")), ("a.pdf", b"%PDF-1.4 damaged"),
    ):  # fmt: skip
        with pytest.raises(UnreadableFile, match=name):
            text_in(name, content)
    assert text_in("a.txt", b"a" * 4096 + b"\0") == "a" * 4096 + "\0"
    size = len(word("one"))
    monkeypatch.setattr(documents, "MOST_BYTES", 10)
    with pytest.raises(UnreadableFile, match="unpacks to"):
        text_in("a.docx", word("one"))
    assert size > 10


def test_the_headers_of_mails_are_left_out():
    for text, body in [
        ("From: a\nTo: b\n\nhello", "hello"),
        ("From: a\n more\nTo: b\n\nhello\n\nyou", "hello\n\nyou"),
        ("A: 1\nB: 2\nC: 3\nD: 4\nodd\n\nhello", "hello"),  # four of five lines
        ("A: 1\nB: 2\nC: 3\nodd\n\nhello", None),
        ("From: a\n\nhello", None),
        ("From: a\nTo: b", None),
        ("hello\nTo: b\nCc: c\nX: d\nY: e\n\nyou", None),
        ("Note: this\nis prose\n\nhello", None),
    ]:
        found, notes = told(without_mail_header, text)
        assert found == (text if body is None else body)
        assert len(notes) == (body is not None)


# ---- folders of texts


def test_dotted_folders_are_a_hierarchy():
    names, paths, Y = dotted_labels(["rec.a", "rec.b", "sci.x", "rec.a", "alt"])
    assert names == ("alt", "rec", "rec.a", "rec.b", "sci.x")
    assert paths == [("alt",), ("rec",), ("rec", "rec.a"), ("rec", "rec.b"), ("sci.x",)]
    assert Y[0].tolist() == [0, 1, 1, 0, 0]
    assert Y[4].tolist() == [1, 0, 0, 0, 0]
    names, paths, _ = dotted_labels(["rec", "rec.a", "rec.b"])
    assert (names, paths[1]) == (("rec", "rec.a", "rec.b"), ("rec", "rec.a"))


def texts(tmp_path, files, **said):
    """Read a folder of texts."""
    for name, text in files.items():
        put(tmp_path / "t", name, text)
    return sl.read(tmp_path / "t", format="folder", **said)


def test_words_of_files_are_counted_and_folders_are_labels(tmp_path):
    files = {"a/1.txt": "red fox", "a/2.txt": "red hen red", "b/3.txt": "hen", "b/.hid": "red", "b/l.csv": "red",
             "b/p.png": b"red\0"}  # fmt: skip
    data = texts(tmp_path, files)
    assert (data.feature_names, data.X.toarray().tolist()) == (("hen", "red"), [[0, 1], [1, 2], [1, 0]])
    assert (data.row_ids.tolist(), data.y.tolist()) == (["a/1.txt", "a/2.txt", "b/3.txt"], ["a", "a", "b"])
    assert (data.label_names, data.tree, data.Y) == (("a", "b"), None, None)
    assert data.show["text"].tolist() == ["red fox", "red hen red", "hen"]
    assert role_of(data) == {"file name": "id", "folder": "label", "words": "feature", "text": "show"}
    assert '"texts"' in data.material
    data = sl.read(tmp_path / "t", format="folder", label=False)
    assert (data.y, role_of(data)["folder"]) == (None, "ignored")


def test_a_folder_of_one_kind_has_no_labels_and_nested_names_have_a_tree(tmp_path):
    assert texts(tmp_path / "x", {"1.txt": "red"}).y is None
    data = texts(tmp_path / "y", {"r.a/1.txt": "red", "r.b/2.txt": "red", "s/3.txt": "red"})
    assert (data.label_names, data.tree.parents.tolist()) == (("r", "r.a", "r.b", "s"), [-1, 0, 0, -1])
    assert data.Y.tolist() == [[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]]
    assert texts(tmp_path / "y", {}, label=False).tree is None
    for files, match in (({"1.csv": "red"}, "found none"), ({"1.txt": "red", "2.txt": "hen"}, "no word in two")):
        with pytest.raises(UnreadableFile, match=match):
            texts(tmp_path / match, files)


def test_files_that_are_left_out_and_latin_ones_are_told(tmp_path):
    files = {"a/1.txt": "red", "a/2.txt": "red café".encode("latin-1"), "b/3.docx": "no", "b/4.txt": "red"}
    data = texts(tmp_path, files)
    assert data.row_ids.tolist() == ["a/1.txt", "a/2.txt", "b/4.txt"]
    assert any("left out: b/3.docx" in note for note in data.notes)
    assert any("not UTF-8" in note for note in data.notes)
    assert not any("not UTF-8" in note for note in texts(tmp_path, {}, encoding="latin-1").notes)


def test_an_archive_of_texts_is_read_in_memory(tmp_path, monkeypatch):
    files = {"t/a/1.txt": b"red", "t/b/2.txt": b"red hen", "t/b/.hid": b"red"}
    with tarfile.open(tmp_path / "t.tar.gz", "w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    data = sl.read(tmp_path / "t.tar.gz")
    assert (data.row_ids.tolist(), data.y.tolist()) == (["t/a/1.txt", "t/b/2.txt"], ["a", "b"])
    monkeypatch.setattr(folder, "_LARGEST", 7)
    assert sl.read(tmp_path / "t.tar.gz").n_rows == 2
    monkeypatch.setattr(folder, "_LARGEST", 6)
    with pytest.raises(UnreadableFile, match="declares 7 bytes"):
        sl.read(tmp_path / "t.tar.gz")
    with pytest.raises(UnreadableFile, match="at most 6 bytes"):
        texts(tmp_path, {"1.txt": "red", "2.txt": "red hen"})
    monkeypatch.setattr(folder, "_LARGEST", 99)
    monkeypatch.setattr(folder, "MAX_UNPACKED", 9)
    monkeypatch.setattr(folder, "MAX_RATIO", 0)
    with pytest.raises(UnreadableFile, match="declares 7 bytes"):
        sl.read(tmp_path / "t.tar.gz")
    monkeypatch.setattr(folder, "MAX_UNPACKED", 10)
    assert sl.read(tmp_path / "t.tar.gz").n_rows == 2
    monkeypatch.setattr(folder, "_MOST", 1)
    with pytest.raises(UnreadableFile, match="more than 1 files"):
        sl.read(tmp_path / "t.tar.gz")


# ---- delimited text, by a loop and by polars


PLAIN = {
    "commas": "a,w,b\n1,x,2.5\n?,,3\n4,y,\n",
    "quotes": 'a,w,b\n1,"x, y",2.5\n2,"z ""q""",3\n4,"u\nv",5\n',
    "blanks in front of quotes": 'a ,w,b\n1 , "x, y",2.5\n2 , "z",3\n4,u,5\n',
    "padding": "a ,w , b\n1 , x,2.5 \n2 ,y , 3\n4, z ,5\n",
    "decimal commas": "a;w;b\n1,5;x;2,25\n2;y;3\n4;z;5,5\n",
    "blanks": "a w b\n1  x 2.5\n 2 y\t3 \n4 z 5\n",
    "blank lines": "a,w,b\n\n1,x,2.5\n\n\n2,y,3\n4,z,5",
    "percent": "a,w,b\n1%,x,2.5\n2 %,y,3\n4%,z,5\n",
    "thousands": 'a,w,b\n"1,000",x,2.5\n"12,000",y,3\n"4,500",z,5\n',
    "no header": "1,x,2.5\n2,y,3\n4,z,5\n",
    "comments": "# n\na,w,b\n1,x,2.5\n2,y,3\n4,z,5\n",
}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("size", [1 << 24, 9])
def test_polars_and_a_loop_read_the_same(tmp_path, monkeypatch, name, size):
    path = put(tmp_path, "a.csv", PLAIN[name])
    small = sl.read(path, keep="*", label=False, id=False, events=False)
    monkeypatch.setattr(delimited, "_SMALL", 0)
    monkeypatch.setattr(blocks, "BLOCK", size)
    large = sl.read(path, keep="*", label=False, id=False, events=False)
    assert np.array_equal(small.X, large.X, equal_nan=True)
    assert small.X.shape == (3, 2)
    assert small.feature_names == large.feature_names
    assert small.notes == large.notes
    for column, cells in small.kept.items():
        assert [str(c) for c in cells.tolist()] == [str(c) for c in large.kept[column].tolist()]
    assert [large.location(row) for row in range(3)] == [small.location(row) for row in range(3)]
    monkeypatch.setattr(delimited, "_WIDE", 2)
    assert np.array_equal(sl.read(path, label=False, id=False, events=False).X, large.X, equal_nan=True)


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a,b\n1,2\n3\n5,6\n", "line 3"), ("a,b\n1,2\n3,4,5\n5,6\n", "line 3"), ('a,b\n1,"2\n3,4\n5,6\n', "line 2"),
        ("a,b\n" + "1,2\n" * 30 + "3,oak\n", "line 32, column 'b': expected a number, found 'oak'"),
        ("a;b\n" + "1,5;2\n" * 30 + "3;oak\n", "line 32, column 'b'"),
        ("a,b\n" + "1%,2\n" * 30 + "3,oak\n", "line 32, column 'b'"),
        ('a,w\n1,"x"\n2,"y"\n3\n', "line 4"), ("a,b\n", "a.csv"),
    ],
)  # fmt: skip
def test_a_row_that_is_wrong_is_named_either_way(tmp_path, monkeypatch, text, where, small):
    monkeypatch.setattr(delimited, "_SMALL", 1 << 18 if small else 0)
    with pytest.raises(SidelightError, match=where):
        sl.read(put(tmp_path, "a.csv", text))


def test_a_mark_of_inches_is_no_quotation_mark(tmp_path):
    data = sl.read(put(tmp_path, "a.csv", 'a,w\n1,pipe\n2,"5 ft"\n3,5" pipe\n'), show="w", id=False)
    assert data.show["w"].tolist() == ["pipe", "5 ft", '5" pipe']


@pytest.mark.parametrize("small", [True, False])
def test_events_are_counted_either_way(tmp_path, monkeypatch, small):
    monkeypatch.setattr(delimited, "_SMALL", 1 << 18 if small else 0)
    monkeypatch.setattr(blocks, "BLOCK", 20)
    rows = "ann,jaws,2\nbob,jaws,1\nann,alien,4\nbob,jaws,0.5\n"
    counts = sl.read(put(tmp_path, "a.csv", "user,film,count\n" + rows)).counts
    assert sorted(counts.to_csr().toarray().ravel().tolist()) == [0, 1.5, 2, 4]
    counts = sl.read(put(tmp_path, "a.csv", "user,film\nann,jaws\nbob,jaws\nann,alien\nbob,jaws\n")).counts
    assert sorted(counts.to_csr().toarray().ravel().tolist()) == [0, 1, 1, 2]


WORDS = {
    "plain": "a;b\n1.5;2\nfehlt;3\n2.5;x\n4;5\n",
    "decimal commas": "a;b\n1,5;2\nfehlt;3\n2,5;x\n4;5\n",
    "thousands": "a;b\n1.500,5;2\nfehlt;3\n2.500,5;x\n4;5\n",
    "percent": "a;b\n1.5%;2\nfehlt;3\n2.5%;x\n4%;5\n",
    "nines": "a;b\n1.5;2\n-999;3\n2.5;-999\n4;5\n3;-999\n-999;1\n",
}


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("way", ["small", "large", "blocks"])
def test_words_for_nothing_among_numbers_in_any_writing(tmp_path, monkeypatch, name, way):
    monkeypatch.setattr(delimited, "_SMALL", 1 << 18 if way == "small" else 0)
    path = put(tmp_path, "a.csv", WORDS[name])
    if way == "blocks":
        source = delimited.DelimitedSource(Source(path))
        X = np.concatenate([data.X for data in RowsInBlocks(source, asked(id=False, label=False), ["a", "b"])])
    else:
        X = sl.read(path, id=False, label=False).X
    a = [1.5, np.nan, 2.5, 4] if name != "thousands" else [1500.5, np.nan, 2500.5, 4]
    assert np.array_equal(X[:4, 0], a, equal_nan=True)
    assert np.array_equal(X[:4, 1], [2, 3, np.nan, 5], equal_nan=True)


@pytest.mark.parametrize("small", [True, False])
def test_a_cell_that_is_no_number_beside_words_for_nothing_is_named(tmp_path, monkeypatch, small):
    monkeypatch.setattr(delimited, "_SMALL", 1 << 18 if small else 0)
    rows = "".join(f"{i};{i}\n" for i in range(20))
    with pytest.raises(SidelightError, match=r"line 23, column 'a'.*'oak'"):
        sl.read(put(tmp_path, "a.csv", f"a;b\n{rows}fehlt;3\noak;1\nelm;1\n"), id=False)
