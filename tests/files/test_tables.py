"""From a table and the roles of its columns to a data set: labels of rows and bags, words, totals, kept columns."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sidelight as sl
from sidelight.data.dataset import OF_ROWS, TORN, Note
from sidelight.errors import InvalidData, SidelightError
from sidelight.files.roles import tables


@pytest.fixture
def read(tmp_path):
    """Read a text as a table."""

    def of(content, labels=None, **said):
        (tmp_path / "a.csv").write_text(content)
        if labels is not None:
            (tmp_path / "l.csv").write_text(labels)
            said["label_file"] = tmp_path / "l.csv"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return sl.read(tmp_path / "a.csv", **said)

    return of


def codes(data):
    """Return the codes of the notes that have one."""
    return [note.code for note in data.notes if isinstance(note, Note) and note.code]


# ---- labels of rows and bags


@pytest.mark.parametrize(
    ("labels", "said", "of_bags", "y"),
    [
        ("uuvv", {}, True, None),
        ("u-v-", {}, True, None),  # in the first row of each
        ("uvuu", {}, False, ["u", "v", "u", "u"]),
        ("uuvv", {"label_level": "row"}, False, ["u", "u", "v", "v"]),
        ("uvuu", {"label_level": "bag"}, True, None),
        ("u-v-", {"label_level": "row"}, False, ["u", "", "v", ""]),
        ("u---", {}, True, None),
        ("-u-v", {}, False, ["", "u", "", "v"]),
    ],
)
def test_labels_speak_of_rows_or_of_bags(read, labels, said, of_bags, y):
    rows = "".join(f"{b},{x},{c.replace('-', '')}\n" for b, x, c in zip("aabb", "1243", labels))
    data = read("bag,f,label\n" + rows, bag="bag", label="label", **said)
    assert (None if data.y is None else data.y.tolist()) == y
    assert any("speak of bags" in note for note in data.notes) == of_bags
    assert (OF_ROWS in codes(data)) != of_bags
    expected = {b: {c for name, c in zip("aabb", labels) if name == b and c != "-"} or None for b in "ab"}
    assert dict(data.bags.labels) == expected
    assert data.bags.classes == tuple(sorted(set(labels) - {"-"})) == data.label_names
    silent = sum(told is None for told in expected.values())
    assert any("1 of 2 bags has no label" in note for note in data.notes) == (silent == 1)
    assert (TORN in codes(data)) == (labels == "uvuu" and of_bags)


def test_a_row_a_bag_has_labels_of_rows(read):
    data = read("bag,f,label\na,1,u\nb,2,v\nc,3,u\n", bag="bag", label="label")
    assert data.y.tolist() == ["u", "v", "u"]
    data = read("bag,f,label\na,1,u\nb,2,\nc,3,u\n", bag="bag", label="label")
    assert OF_ROWS in codes(data)


def test_the_first_row_of_a_bag_may_say_it_for_all(read):
    data = read("bag,f,label\na,1,u\na,2,\nb,3,\nb,4,\nc,4,\nc,5,\n", bag="bag", label="label")
    assert any("first row" in note for note in data.notes)
    assert any("2 of 3 bags have no label" in note for note in data.notes)


def test_labels_of_bags_have_a_column_of_their_own(read):
    text = "bag,f,bag label,label\na,1,u;v,p\na,2,u;v,q\nb,3,u,p\nb,4,v,p\n"
    data = read(text, bag="bag")
    assert dict(data.bags.labels) == {"a": {"u", "v"}, "b": {"u", "v"}}
    assert data.bags.classes == data.label_names == ("u", "v")
    assert TORN in codes(data)
    assert OF_ROWS not in codes(data)
    assert data.y.tolist() == ["p", "q", "p", "p"]
    data = read(text, bag="bag", label_separator="|")
    assert data.bags.classes == ("u", "u;v", "v")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("bag,label\na,u\na,v\nb,u\n", {"a": {"u", "v"}, "b": {"u"}}),
        ("label,bag\nu;v,a\nu,b\n", {"a": {"u", "v"}, "b": {"u"}}),
        ("name,label\na,u;v\nb,u\n", {"a": {"u", "v"}, "b": {"u"}}),  # the first column is the key
        ("bag,u,v\na,1,1\nb,1,0\n", {"a": {"u", "v"}, "b": {"u"}}),
        ("bag,m\na,1\nb,0\n", {"a": {"1"}, "b": {"0"}}),  # one column is no mark of a label
        ("bag,note,label\na,x,u;v\nb,y,u\n", {"a": {"u", "v"}, "b": {"u"}}),
        ("bag,label\na,u\n", {"a": {"u"}, "b": None}),
    ],
)
def test_labels_in_a_second_table(read, labels, expected):
    data = read("bag,f\na,1\na,2\nb,3\n", labels, bag="bag")
    assert dict(data.bags.labels) == expected
    assert set(data.bags.classes) == set(data.label_names) == {c for told in expected.values() if told for c in told}
    assert any("says nothing about 1 of 2 bags" in note for note in data.notes) == (None in expected.values())


def test_labels_of_rows_in_a_second_table(read):
    text = "id,f\nr1,1\nr2,2\nr3,3\n"
    assert read(text, "id,label\nr1,u\nr3,v\n", id="id").y.tolist() == ["u", "", "v"]
    assert read(text, "id,label\nr1,u;v\nr3,v\n", id="id").Y.tolist() == [[1, 1], [-1, -1], [0, 1]]
    for labels in ("id\nr1\n", "id,x,z\nr1,u,v\n", "id,label,tags\nr1,u,v\n", "id,label\nr9,u\n"):
        with pytest.raises(SidelightError, match=r"l\.csv"):
            read(text, labels, id="id")
    with pytest.raises(SidelightError, match="something to match"):
        read("f,g\n1,2\n3,4\n", "id,label\nr1,u\n", id=False, bag=False)


def test_several_columns_of_labels_are_marks_or_one_class_together(read):
    assert read("f,p,q\n1,1,0\n2,0,1\n3,1,1\n", label=["p", "q"]).Y.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert read("f,p,q\n1,x,u\n2,w,v\n3,x,v\n", label=["p", "q"]).y.tolist() == ["x/u", "w/v", "x/v"]
    with pytest.raises(InvalidData, match="expected 0 or 1, found 'u'"):
        read("f,p,q\n1,1,u\n2,0,v\n3,1,v\n", label=["p", "q"])


# ---- ids and bags that are wrong


def test_ids_and_bags_must_be_there(read):
    for text, said, match in (
        ("id,f\nr1,1\n,2\n", {"id": "id"}, "line 3, column 'id'"),
        ("id,f\nr1,1\nr2,2\nr2,3\n", {"id": "id"}, "'r2' in line 3 and line 4"),
        ("b,f\nr1,1\n,2\n,3\n", {"bag": "b"}, r"line 3, column 'b'.*2 such rows"),
    ):
        with pytest.raises(InvalidData, match=match):
            read(text, **said)


# ---- features


def test_words_become_columns_in_the_place_of_their_feature(read):
    data = read("a,w,b\n1,x,4\n2,y,5\n3,,6\n4,x,7\n", features=["b", "w", "a"], id=False)
    assert data.feature_names == ("b", "w=x", "w=y", "a")
    assert data.X.tolist() == [[4, 1, 0, 1], [5, 0, 1, 2], [6, 0, 0, 3], [7, 1, 0, 4]]
    data = read("a,w,b\n1,x,4\n2,y,5\n3,x,6\n", channels={"p": ["a", "w"], "q": "b"}, id=False)
    assert data.channels == {"p": slice(0, 3), "q": slice(3, 4)}
    with pytest.raises(SidelightError, match="'q'"):
        read("a,w,b\n1,x,4\n2,y,5\n3,x,6\n", channels={"p": "a", "q": "b"}, bag="b")


@pytest.mark.parametrize(("n", "is_read"), [(200, True), (201, False)])
def test_very_many_words_are_no_feature(read, n, is_read):
    text = "a,w\n" + "".join(f"{i},w{i % n}\n" for i in range(2 * n))
    if is_read:
        assert read(text, features=["w"], id=False, bag=False).X.shape == (2 * n, n)
    else:
        with pytest.raises(InvalidData, match="at most 200 words"):
            read(text, features=["w"], id=False, bag=False)


@pytest.mark.parametrize(("words", "is_read"), [("xxxx", False), ("xyxy", True), ("xyz-", False), ("xyxyzz", True)])
def test_words_that_are_a_feature_come_back(read, words, is_read):
    text = "a,w\n" + "".join(f"{i},{c.replace('-', '')}\n" for i, c in enumerate(words))
    if is_read:
        assert read(text, features="w", id=False).X.shape[1] == len(set(words))
    else:
        with pytest.raises(InvalidData, match="a few words that come back"):
            read(text, features="w", id=False)


def test_words_of_texts_are_counted(read):
    text = "a,t,u\n1,red red fox,one\n2,red hen,two\n3,blue hen,one two\n4,,one\n"
    data = read(text, text="t", id=False, label=False)
    assert data.feature_names == ("hen", "red")
    assert data.X.toarray().tolist() == [[0, 2], [1, 1], [1, 0], [0, 0]]
    data = read(text, text=["t", "u"], features="a", id=False, label=False)
    assert data.feature_names == ("a", "t: hen", "t: red", "u: one", "u: two")
    assert data.X.toarray()[2].tolist() == [3, 1, 0, 1, 1]
    three = read("a,t\n1,red fox\n2,hen\n3,owl\n", text="t", id=False, label=False)
    assert three.feature_names == ("fox", "hen", "owl", "red")  # of three rows every word counts
    with pytest.raises(InvalidData, match="no word in two rows"):
        read("a,t\n1,red\n2,hen\n3,owl\n4,fox\n", text="t", id=False, label=False)


def test_kept_columns_are_carried_along_as_they_are(read):
    data = read(
        "a,b,c,d,e\n1,1.5,9007199254740992,x,2\n2,2.5,9007199254740993,y,\n3,3.5,1,z,4\n",
        keep=["a", "b", "c", "d", "e"], id=False, label=False,
    )  # fmt: skip
    assert data.kept["a"].tolist() == [1, 2, 3]
    assert data.kept["a"].dtype.kind == "i"
    assert data.kept["b"].tolist() == [1.5, 2.5, 3.5]
    assert [str(c) for c in data.kept["c"].tolist()] == ["9007199254740992", "9007199254740993", "1"]
    assert data.kept["d"].tolist() == ["x", "y", "z"]
    assert np.isnan(data.kept["e"][1].item())
    assert tables.as_written(np.array([2.0**53])).dtype.kind == "f"
    assert tables.as_written(np.array([2.0**53 - 1])).dtype.kind == "i"
    assert tables.as_written(np.array([np.inf, 1.0])).dtype.kind == "f"
    huge = read("a,b\n1.5,9007199254740993\n9e99,9007199254740992\n", keep=["a", "b"], id=False, label=False)
    assert huge.kept["a"].tolist() == [1.5, 9e99]
    assert [str(c) for c in huge.kept["b"].tolist()] == ["9007199254740993", "9007199254740992"]


def test_sequences_truths_candidates_and_shown_columns(read):
    text = "s,t,c,w,f\nq1,u,u|v,hello,1\nq1,,v,you,2\nq2,v,u,all,3\n"
    data = read(text, sequence="s", truth="t", candidates="c", show="w", id=False)
    assert data.sequence.tolist() == ["q1", "q1", "q2"]
    assert data.truth.tolist() == ["u", "", "v"]
    assert (data.candidates.tolist(), data.label_names) == ([[1, 1], [0, 1], [1, 0]], ("u", "v"))
    assert data.show["w"].tolist() == ["hello", "you", "all"]
    data = read(text, candidates="c", label_separator=";", id=False)
    assert data.label_names == ("u", "u|v", "v")


def test_a_table_without_features_says_so(read):
    assert any("no column of numbers" in note for note in read("a,b\nx,u\ny,v\nx,u\n", events=False, label="b").notes)
    assert not any("no column of numbers" in note for note in read("a,b\nx,1\ny,2\nx,3\n", label="a").notes)
    with pytest.raises(InvalidData, match="expected at least one column"):
        read("a,b\nx,u\ny,v\n", events=False, label=False, id=False, bag=False)


# ---- totals


ABOVE = "n{0},{0},{1}\n"


@pytest.mark.parametrize(
    ("last", "is_told"),
    [
        ("x,6,12", True), ("x,6,13", False), ("x,6,", False), ("Total:,1,1", True), ("summe,5,9", True),
        ("x,5,9", False),
        ("x,6.00000001,12.00000001", False), ("x,6.000000000001,12", True),
    ],
)  # fmt: skip
def test_a_last_row_of_sums_is_told(read, last, is_told):
    rows = "".join(ABOVE.format(i, 2 * i) for i in (1, 2, 3))
    data = read(f"id,a,b\n{rows}{last}\n", id="id", label=False)
    assert any("the last row" in note or "at the end" in note for note in data.notes) == is_told


def test_sums_of_few_rows_of_zeros_or_of_infinities_are_none(read):
    def told(rows, **said):
        data = read("id,a,b\n" + "\n".join(rows) + "\n", id="id", label=False, **said)
        return any("the last row" in note for note in data.notes)

    assert not told(["x,1,2", "y,2,4", "z,3,6"])  # three rows
    assert not told(["x,0,0", "y,0,0", "z,0,0", "w,0,0"])
    assert not told(["x,1,0", "y,2,0", "z,3,0", "w,6,0"])  # one sum of two columns
    assert told(["x,1,0", "y,2,0", "z,3,0", "w,6,0"], features="a")
    assert not told(["x,inf,1e308", "y,-inf,1e308", "z,3,1e308", "w,6,5"])
    assert told(["x,1,0", "y,2,0", "z,3,5", "w,6,5"])
    assert told(["x,1,", "y,2,1", "z,3,5", "w,6,6"])
