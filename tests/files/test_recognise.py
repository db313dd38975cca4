"""What a file is, by looking inside it, and the file itself: packed, cut off, kept, named with a part."""

from __future__ import annotations

import gzip
import io
import zipfile
from itertools import count

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidParameter, UnreadableFile
from sidelight.files import source
from sidelight.files.recognise import recognise
from sidelight.files.source import (
    GuardedStream,
    Source,
    guess_encoding,
    is_server,
    refuse_web,
    split_part,
    text_lines,
    without_password,
)


def put(tmp_path, name, content):
    """Write a file."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def packed(**members):
    """Return a zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_DOT_", "."), content)
    return out.getvalue()


IDX = b"\0\0\x08\x02" + b"\0" * 20
TAR = b"a" * 257 + b"ustar" + b"0" * 250
ARFF = "% n\n@relation r\n@attribute a numeric\n@data\n1\n"


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("a", b"SQLite format 3\0", "sqlite"),
        ("a", b"ARROW1\0\0", "feather"),
        ("a.xls", b"\xd0\xcf\x11\xe0", "workbook"),
        ("a", b"PAR1", "parquet"),
        ("a", b"\x93NUMPY", "npy"),
        ("a", b"MATLAB 5.0 MAT-file", "matlab"),
        ("a", b"x" * 124 + b"\x00\x01IM", "matlab"),
        ("a", b"x" * 124 + b"\x01\x00MI", "matlab"),
        ("a", IDX, "idx"),
        ("a", b"\0\0\x0e\x04" + b"\0" * 40, "idx"),
        ("a", b"\0\0\x08\x01", "idx"),
        ("a", TAR, "folder"),
        ("a", b"a" * 257 + b"ustar", "folder"),
        ("a", packed(a_DOT_npy=b"", b_DOT_npy=b""), "npz"),
        ("a", packed(xl__a=b""), "workbook"),
        ("a", packed(content_DOT_xml=b"", mimetype=b"application/vnd.oasis.opendocument.spreadsheet"), "workbook"),
        ("a", packed(a_DOT_CSV=b"", b_DOT_png=b""), "archive"),
        ("a", '{"a": 1}\n', "json"),
        ("a", '[{"a": 1}]\n', "json"),
        ("a", "{0 1,2 3}\n", "delimited"),
        ("a", ARFF, "arff"),
        ("a", "@RELATION r\n", "arff"),
        ("a", "@attribute a numeric\n@data\n1\n", "arff"),
        ("a", ARFF.replace("numeric", "real [0,1]"), "keel"),
        ("a", ARFF.replace("@data", "@Inputs a\n@data"), "keel"),
        ("a", ARFF.replace("@data", "@output a\n@data"), "keel"),
        ("a", "1,2,yes.\n3,4,no.\n", "c45"),
        ("a", "| n\n1,2,yes.\n3,4,no.\n", "c45"),
        ("a", "1,2,1.\n3,4,0.\n", "c45"),
        ("a", "1,2,yes.\n3,4,no\n5,6,yes.\n", "delimited"),
        ("a", "1,2,1.5.\n3,4,0.\n", "delimited"),
        ("a", "1,2,yes.\n3,4,n", "c45"),  # the last line may be cut
        ("a", "1 1:2 3:4\n-1 2:5\n", "svmlight"),
        ("a", "1,2 1:2\n3 2:5\n", "svmlight"),
        ("a", "1e-3 1:2 # n\n+1 qid:7 2:5\n", "svmlight"),
        ("a", "1:2 3:4\n2:5\n", "svmlight"),
        ("a", "2 9\n0:1:1 1:2\n1:1:-1 2:5\n", "svmlight"),
        ("a", "0:1:1 1:2\n1:1:-1 2:5\n", "svmlight"),
        ("a", "1\n2\n3\n", "delimited"),
        ("a", "word 1:2\n", "delimited"),
        ("a", "1 1:2 x\n2 1:2\n3 1:2\n", "delimited"),
        ("a", "1 1:2\n2 1:2\n3 x", "svmlight"),
        ("a", "a,b\n1,2\n", "delimited"),
        ("a", "a,b\n1,2\n".encode("utf-16"), "delimited"),
        ("a", b"a,b\n1,2\n" * 5 + b"\x01\x02", "delimited"),
    ],
    ids=count(),
)
def test_files_are_known_by_what_they_hold(tmp_path, name, content, form):
    assert recognise(put(tmp_path, name, content)).format == form
    if form not in ("npz", "workbook", "archive"):
        assert (
            recognise(
                put(tmp_path, "z.gz", gzip.compress(content if isinstance(content, bytes) else content.encode()))
            ).format
            == form
        )


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("a", b"", "empty"), ("a", gzip.compress(b""), "holds nothing"), ("a", b"%PDF-1", "PDF"),
        ("a", b"RIFF", "sound"),
        ("a.doc", b"\xd0\xcf\x11\xe0", "old office document"), ("a", b"MATLAB 7.3", "7.3"),
        ("a", b"\x89HDF\r\n\x1a\n", "HDF5 file"), ("a.mat", b"\x89HDF\r\n\x1a\n", "7.3"),
        ("a", packed(mimetype=b"x"), "office document"), ("a", packed(META__x=b""), "zip archive of 1 files"),
        ("a", packed(), "0 files"),
        ("a", packed(a_DOT_npy=b"", b_DOT_png=b"", c=b"", d=b""), r"of 4 files \(.*\.\.\.\)"),
        ("a", packed(a=b"", b=b"", c=b""), r"of 3 files \(a, b, c\)"), ("a", b"PK\x03\x04 damaged", "damaged zip"),
        ("a.gz", gzip.compress(packed(a_DOT_csv=b"")), "inside a gzip"),
        ("a", packed(content_DOT_xml=b"", mimetype=b"text"), "office document"),
        ("a", b"a,b\n1,\0\n" + b"1,2\n" * 20, "line 2: expected text, found a zero byte"),
        ("a", bytes(range(1, 9)) * 9, "not text in any"), ("a", b" \n\n", "white space"),
        ("a", "<!DOCTYPE html>", "web page"), ("a", "<HTML>", "web page"), ("a", "<?xml?>", "XML"),
        ("a", "<labels>", "XML"),
        ("a.names", "yes,no.\nx: continuous.\ny: continuous.\n", "names of a C4.5"),
        ("a.data", "yes,no.\nx: continuous.\ny: continuous.\n", "names of a C4.5"),
    ],
    ids=count(),
)  # fmt: skip
def test_what_is_no_table_says_what_to_do(tmp_path, name, content, match):
    with pytest.raises(UnreadableFile, match=match):
        recognise(put(tmp_path, name, content))


def test_names_that_are_no_files(tmp_path):
    put(tmp_path, "birds.csv", "a,b\n1,2\n")
    for name, match in (
        ("bird.csv", "Did you mean birds.csv?"), ("zzzzz", "no such file.$"), ("*.csv", "stands for several files"),
        ("*.xyz", "no such file"), ("none/a.csv", "no folder"),
    ):  # fmt: skip
        with pytest.raises(UnreadableFile, match=match):
            recognise(tmp_path / name)


def test_folders_are_of_material_texts_or_tables(tmp_path):
    for name, form in (("a.wav", "material"), ("a.png", "material"), ("a.txt", "folder")):
        (tmp_path / form / name[2:]).mkdir(parents=True)
        put(tmp_path / form / name[2:], name, b"x")
        assert recognise(tmp_path / form / name[2:]).format == form
    both = tmp_path / "both"
    both.mkdir()
    put(both, "a.csv", "a\n1\n")
    with pytest.raises(UnreadableFile, match="folder of tables"):
        recognise(both)
    put(both, "a.txt", "a")
    assert recognise(both).format == "folder"
    for k in range(11):
        put(both, f"{k}.txt", "a")
    put(both, "a.wav", "a")
    assert recognise(both).format == "folder"


# ---- the file itself


def test_packed_files_and_their_fingerprints(tmp_path):
    plain, gz = Source(put(tmp_path, "a", b"abc")), Source(put(tmp_path, "a.gz", gzip.compress(b"abc", mtime=0)))
    assert (plain.is_packed, gz.is_packed) == (False, True)
    assert gz.open().read() == b"abc"
    assert plain.fingerprint() == Source(put(tmp_path, "b", b"abc")).fingerprint()
    assert plain.fingerprint() != gz.fingerprint()
    assert Source(gz.path).fingerprint() == gz.fingerprint()
    assert Source(tmp_path).fingerprint() is None
    assert Source("a\0b").fingerprint() is None
    assert (str(gz), repr(Source("x::y")), Source.of(gz) is gz) == (str(tmp_path / "a.gz"), "'x::y'", True)


def test_cut_off_damaged_and_exploding_gzip(tmp_path, monkeypatch):
    whole = gzip.compress(bytes(range(256)) * 40)
    for content, match in ((whole[:-20], "stops after"), (whole[:40] + b"\0" * 40 + whole[80:], "damaged|stops")):
        with pytest.raises(UnreadableFile, match=match):
            Source(put(tmp_path, "a.gz", content)).open().read()
    path = put(tmp_path, "b.gz", gzip.compress(b"a" * 1000))
    size = path.stat().st_size
    monkeypatch.setattr(source, "MAX_UNPACKED", 999)
    monkeypatch.setattr(source, "MAX_RATIO", 999 / size)
    with pytest.raises(UnreadableFile, match="bomb"):
        Source(path).open().read()
    monkeypatch.setattr(source, "MAX_UNPACKED", 1000)
    assert len(Source(path).open().read()) == 1000
    monkeypatch.setattr(source, "MAX_UNPACKED", 9)
    monkeypatch.setattr(source, "MAX_RATIO", 1000 / size)
    assert len(Source(path).open().read()) == 1000
    assert GuardedStream(path, path.open("rb")).readable()


def test_parts_of_files_and_addresses(tmp_path):
    assert [split_part(name) for name in ("a.xlsx::b", "a.xlsx", "::b", "a::")] == [
        ("a.xlsx", "b"), ("a.xlsx", None), ("::b", None), ("a::", None),
    ]  # fmt: skip
    path = put(tmp_path, "a::b", b"x")
    assert split_part(str(path)) == (str(path), None)
    assert is_server("postgresql+psycopg://u@h/d")
    assert not is_server("postgresql:d")
    assert not is_server("file://d")
    assert without_password("postgresql://u:p%20q@h:5/d?x=1&y=") == ("postgresql://u@h:5/d?x=1&y=", "p q")
    assert without_password("postgresql://h/d?Password=s&x=1") == ("postgresql://h/d?x=1", "s")
    found = Source("postgresql://u:p@h/d::t")
    assert (found.given, found.part, found.password, str(found.path)) == (
        "postgresql://u@h/d::t",
        "t",
        "p",
        "postgresql://u@h/d",
    )
    assert recognise(found).format == "server"
    for name in ("https://x", "FTP://x", "s3://x", "http:/x"):
        with pytest.raises(UnreadableFile, match="on the web"):
            refuse_web(name)
    refuse_web("httpx.csv")


def test_encodings_are_guessed_from_a_sample_or_the_whole():
    assert guess_encoding("é".encode()[:1]) == "utf-8"
    assert guess_encoding("é".encode()[:1], is_whole=True) == "latin-1"
    assert guess_encoding("é".encode("latin-1") + b"a") == "latin-1"
    assert [guess_encoding("a".encode(e)) for e in ("utf-8-sig", "utf-16", "utf-32")] == [
        "utf-8-sig",
        "utf-16",
        "utf-32",
    ]
    assert guess_encoding(b"\xfe\xff\0a") == "utf-16"


def test_lines_of_text_in_every_encoding(tmp_path):
    path = put(tmp_path, "a", "é\n\nb".encode("latin-1"))
    assert [(number, line.strip()) for number, line in text_lines(path)] == [(1, "é"), (2, ""), (3, "b")]
    with pytest.raises(UnreadableFile, match="line 1: expected utf-8"):
        list(text_lines(path, "utf-8"))
    assert len(list(text_lines(put(tmp_path, "b", "é\nb".encode()), "utf-8"))) == 2


def test_what_was_said_of_a_file_is_checked(tmp_path):
    path = put(tmp_path, "a.csv", "a,b\n1,2\n3,4\n")
    for wrong in ({"format": "nothing"}, {"label_level": "table"}, {"encoding": 5}, {"encoding": "nothing"}):
        with pytest.raises((InvalidParameter, UnreadableFile), match=str(next(iter(wrong)))):
            sl.read(path, **wrong)
    assert (sl.read(path).reader, sl.read(path, format="delimited").reader) == ("delimited", "delimited")
    np.savez(tmp_path / "a.npz", X=np.arange(6.0).reshape(3, 2), feature_names=np.array(["u", "v"]))
    assert sl.read(tmp_path / "a.npz", keep="v").kept["v"].tolist() == [1, 3, 5]
    assert sl.read(tmp_path / "a.npz").kept == {}
    assert sl.read(put(tmp_path, "s.svm", "1 1:2\n2 2:3\n"), keep="f2").kept["f2"].tolist() == [0, 3]


@pytest.mark.parametrize(
    "name",
    [
        "id", "bag", "label", "features", "ignore", "show", "keep", "sequence", "channels", "events", "weight",
        "label_separator", "bag_label", "truth", "text", "missing_words", "transpose", "candidates",
    ],
)  # fmt: skip
def test_every_wish_is_heard(tmp_path, name):
    with pytest.raises(InvalidParameter, match=f"'{name}'"):
        sl.read(put(tmp_path, "a.csv", "a,b\n1,2\n3,4\n"), **{name: 5})
