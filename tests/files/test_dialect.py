"""How a text is written, guessed from its beginning, and its blocks of whole rows, cut anywhere."""

from __future__ import annotations

import pytest

import sidelight as sl
from sidelight.errors import InvalidParameter, UnreadableFile
from sidelight.files.source import Source
from sidelight.files.text import blocks, delimited, dialect
from sidelight.files.text.blocks import rows_with_lines, text_blocks
from sidelight.files.text.dialect import sniff


@pytest.fixture
def look(tmp_path):
    """Sniff a text."""

    def of(text, **said):
        path = tmp_path / "a.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return sniff(Source(path), **said)

    return of


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a,b\n1,2\n3,4\n", ","),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),
        ("a b\n1 2\n3 4\n", " "),
        ("a\tb c\n1\t2 x\n3\t4 x\n", "\t"),
        ("the cat sat\non the mat today\nall day\nlong it was so\nwith us\n", ","),  # sentences
        ("1 2\n1 2 3\n4 5\n6 7 8 9\n1 2\n", " "),  # rows of numbers, however long
        ("a b\nc d\ne f\ng h\ni\nj k\n", " "),  # four of five lines
        ("a b\nc d\ne f\ng\ni\nj k\n", ","),
        ("a,b;c\n1,2;3\n4,5;6\n7,8;9\n", ";"),  # as even, and more numbers
        ("a|b,c|d\nx|y,z|w\nx|y,z|w\n", "|"),  # as even, and more cells
        ("a,b\n1,2\n3,4\n5;6;7;8;9", ","),  # the last row may be cut
        ("a;b\n1;2", ";"),
        ("x\n1\n2\n", ","),
        ("name\nann,bob\ncy\ndan\n", ","),
    ],
)
def test_the_separator_cuts_most_rows_into_as_many_cells(look, text, separator):
    assert look(text).separator == separator


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x,y\n", "x y"),
        ("x,1\n", ""),
        ("x,y\n1,2\n3,4\n", "x y"),
        ("x,1\n1,2\n3,4\n", ""),
        ("x;1,5\n1;2\n3;4\n", ""),
        ("x;y\n1,5;u\n2,5;v\n", "x y"),
        ("0,1,2,label\n5,6,7,a\n8,9,1,b\n", "0 1 2 label"),
        ("1,2,3,4\n5,6,7,8\n8,9,1,2\n", "1 2 3 4"),
        ("0,1,2\n5,6,7\n", ""),
        ("2,3,4,5\n5,6,7,8\n", ""),
        ("x,x\n1,a\n2,b\nq,a\n", "x x_2"),  # a column of more numbers than words
        ("x,x\n1,a\nq,b\n", ""),
        ("?,y\n1,a\n2,y\n", ""),
        ("x,y\na,b\nc,d\n", "x y"),
        ("x,y\na,b\nc,x\n", ""),  # comes back
        ("x,y,\na,b,\nc,d,\n", "x y column_3"),
        ("x,y,\na,b,c\nc,d,e\n", ""),
        ("x,y,\na,b\nc,d\n", "x y column_3"),
        ("a,a,a_2,\nq,1,2,\nr,3,4,\n", "a a_3 a_2 column_4"),
    ],
)
def test_a_header_holds_names_and_no_values(look, text, names):
    found = look(text)
    assert found.has_header == bool(names)
    if names:
        assert found.names == tuple(names.split())
        assert len(found.rows) == len(text.splitlines()) - 1
    else:
        assert found.names[0] == "column_1"
        assert len(found.rows) == len(text.splitlines())


def test_names_without_a_header_are_as_many_as_most_rows_have_cells(look):
    assert look("1,2,3\n1,2\n3,4\n5,6\n").names == ("column_1", "column_2")


def test_what_was_said_is_believed(look):
    assert look("x,y\n1,2\n", header=False).names == ("column_1", "column_2")
    assert look("1,2\n3,4\n", header=True).names == ("1", "2")
    assert look("x;y,z\n1;2,3\n", separator=",").names == ("x;y", "z")
    for wrong in ({"separator": s} for s in ("", "ab", "é", '"', "\n", "\r", "\0", 5)):
        with pytest.raises(InvalidParameter, match="separator"):
            look("x,y\n1,2\n", **wrong)
    with pytest.raises(InvalidParameter, match="header"):
        look("x,y\n1,2\n", header="yes")


@pytest.mark.parametrize(
    ("text", "is_comma"),
    [
        ("x;y\n1,5;2\n3;4\n", True),
        ("x;y\n1,5;2.5\n3;4\n", False),
        ("x;y\n1,5;2.5\n3,5;4\n", True),
        ("x;y\n1.234,56;2\n3;4\n", True),
        ("x;y\n1;2\n3;4\n", False),
        ('x,y\n"1,5",2\n"3,5",4\n', False),
    ],
)
def test_decimal_commas_are_counted_against_points(look, text, is_comma):
    found = look(text)
    assert found.decimal_comma == is_comma
    assert ("decimal commas" in found.title) == is_comma
    assert found.with_point("1,5") == ("1.5" if is_comma else "1,5")
    assert found.with_point("a,b") == "a,b"


def test_comments_blank_lines_and_blanks_around_cells(look):
    found = look("# one\n\n% two\n// three\nx,y\n1 ,2\n")
    assert (found.skip, found.names, found.rows, found.has_padding) == (4, ("x", "y"), (("1", "2"),), True)
    assert any(note.startswith("3 comment lines") for note in found.notes)
    assert not look("x,y\n1,2\n").has_padding
    assert look("\nx,y\n1,2\n").notes == ()
    for nothing in ("", "# only\n", "\n\n", ",,\n,,\n"):
        with pytest.raises(UnreadableFile, match="no rows"):
            look(nothing)


def test_a_note_says_that_a_file_is_latin(look):
    text = "x,y\ncafé,2\n".encode("latin-1")
    assert any("Latin-1" in note for note in look(text).notes)
    assert look(text, encoding="latin-1").notes == ()


def test_the_first_rows_are_seen_whole_and_the_last_one_may_be_cut(look, monkeypatch):
    monkeypatch.setattr(dialect, "SAMPLE", 8)
    assert look("long_name,other\n1,2\n3,4\n5,6\n7,8\n9,10\n").names == ("long_name", "other")
    assert look("long_name,other\r1,2\r3,4\r5,6\r7,8\r9,10\r").names == ("long_name", "other")
    monkeypatch.setattr(dialect, "SAMPLE", 22)
    assert look("x,y\n1,2\n3,4\n5,6\n7,8\n9,1234\n").rows[-1] == ("7", "8")
    assert look("x,y\n1,2\n3,4\n5,6\n7,8\n9").rows[-1] == ("9",)  # all of it was seen
    monkeypatch.setattr(dialect, "LONGEST_ROW", 16)
    assert len(look("x,y\n" + "1" * 99 + ",2\n").rows[0][0]) == 18


# ---- blocks


TEXT = '# é\nname,"a\nb"\n1,ü\n2,"x\ny €"\n3,"😀,\n\n""q"""\n44,z\n5,é'


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blocks_of_any_size_hold_whole_rows_and_know_their_line(tmp_path, monkeypatch, end):
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT.replace("\n", end).encode())
    found = sniff(Source(path))
    assert (found.skip, found.names) == (1, ("name", "a\nb" if end == "\n" else "a\r\nb"))
    for size in range(1, 26):
        monkeypatch.setattr(blocks, "BLOCK", size)
        pieces = list(text_blocks(Source(path), found, strict=False))
        body = TEXT.split('b"\n')[1]
        assert b"".join(piece.data for piece in pieces).decode() == body
        before = 4
        for piece in pieces:
            assert piece.line == before
            before += piece.data.count(b"\n")
        rows = [row for piece in pieces for row in rows_with_lines(piece, found)]
        assert rows == [
            (4, ["1", "ü"]),
            (5, ["2", "x\ny €"]),
            (7, ["3", '😀,\n\n"q"']),
            (10, ["44", "z"]),
            (11, ["5", "é"]),
        ]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "latin-1", "utf-8"])
def test_every_encoding_is_the_same_text(tmp_path, monkeypatch, size, encoding):
    monkeypatch.setattr(blocks, "BLOCK", size)
    path = tmp_path / "a.csv"
    path.write_bytes("name,b\nü,1\né,2\n".encode(encoding))
    found = sniff(Source(path), encoding=encoding)
    assert b"".join(p.data for p in text_blocks(Source(path), found, strict=True)).decode() == "ü,1\né,2\n"


def late(tmp_path, tail, head="name,b\n" + "a,1\n" * 9):
    """Write a file that is ASCII at first."""
    path = tmp_path / "a.csv"
    path.write_bytes(head.encode() + tail)
    return Source(path)


@pytest.mark.parametrize("size", [1, 7, 40, 1000])
def test_latin_letters_late_in_a_file_are_read_with_one_note(tmp_path, monkeypatch, size):
    monkeypatch.setattr(blocks, "BLOCK", size)
    monkeypatch.setattr(delimited, "_SMALL", 0)
    file = late(tmp_path, b"caf\xe9,2\nth\xe9,3\n\xe9", "name,b\n" + "a,1\n" * 9)
    found = sniff(Source(file.path), encoding=None)
    told = []
    monkeypatch.setattr(blocks, "notice", told.append)
    object.__setattr__(found, "encoding", "utf-8")
    data = b"".join(p.data for p in text_blocks(file, found, strict=False))
    assert data.decode().endswith("café,2\nthé,3\né")
    assert len(told) == 1
    assert "line 11 " in told[0]
    with pytest.raises(UnreadableFile, match="line 11: expected utf-8"):
        list(text_blocks(file, found, strict=True))


@pytest.mark.parametrize("size", [8, 1000])
@pytest.mark.parametrize("tail", [b"caf\xc3\xa9,1\n\xc3\xb6l,2\n\xe9,3\n", b"caf\xc3\xa9,1\n\xc3\xb6l,2\n\xe9"])
def test_damage_among_accents_of_utf8_is_refused(tmp_path, monkeypatch, size, tail):
    monkeypatch.setattr(blocks, "BLOCK", size)
    file = late(tmp_path, tail)
    found = sniff(late(tmp_path, b""))
    with pytest.raises(UnreadableFile, match="line 13: expected utf-8"):
        list(text_blocks(late(tmp_path, tail), found, strict=False))
    assert file.path.exists()


def test_a_cut_falls_between_characters():
    for letter in ["a", "\x7f", "\x80", "é", "\u07ff", "\u0800", "€", "\uffff", "\U00010000", "😀"]:
        whole = letter.encode()
        for n in range(len(whole) + 1):
            data = b"a" + whole[:n]
            assert blocks._utf8_cut(data) == (len(data) if n in (0, len(whole)) else 1)
            assert blocks._utf8_cut(whole[:n]) == (n if n in (0, len(whole)) else 0)


def test_text_that_is_not_of_its_encoding(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("a,b\n1,2\n3,4\n".encode("utf-16")[:-1])
    with pytest.raises(UnreadableFile, match="utf-16"):
        sl.read(path, encoding="utf-16")
    path.write_bytes(b"name,b\nx+2AA-,1\ny,2\n")
    found = sniff(Source(path), encoding="utf-7")
    assert b"".join(p.data for p in text_blocks(Source(path), found, strict=True)) == b"x?,1\ny,2\n"


def test_comments_end_where_lines_end(tmp_path):
    """A form feed ends a page and no line: counted as one, it cost the first row."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"# one\x0c# two\nx,y\n1,2\n3,4\n")
    data = sl.read(path)
    assert data.X.tolist() == [[1, 2], [3, 4]]
    assert data.feature_names == ("x", "y")
