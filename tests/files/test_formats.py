"""Small files written here, one for each layout that a format allows."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight.errors import InvalidParameter, WrongKind
from sidelight.files.text import delimited


def put(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


# ---- delimited text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_system(tmp_path, end):
    data = sl.read(put(tmp_path / "a.csv", end.join(["f1,f2", "1,2", "3,4", ""])))
    assert data.X.tolist() == [[1, 2], [3, 4]]


def test_missing_words_are_gaps_in_numbers_and_words_in_labels(tmp_path):
    data = sl.read(put(tmp_path / "a.csv", "f1,f2,kind\n1,NA,NA\n?,4,b\n,6,b\n"))
    assert np.isnan(data.X).tolist() == [[False, True], [True, False], [True, False]]


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize(
    ("cells", "numbers"),
    [(("10%", "20 %"), (10, 20)), (('"1,000"', '"25,500.5"'), (1000, 25500.5)), (("$ 1.50", "$2"), (1.5, 2))],
)
def test_numbers_in_the_dress_of_a_spreadsheet_are_numbers(tmp_path, monkeypatch, cells, numbers, small):
    monkeypatch.setattr(delimited, "_SMALL", (1 << 18) if small else 0)
    data = sl.read(
        put(tmp_path / "a.csv", "width,share\n" + "".join(f"{i},{cells[i % 2]}\n" for i in range(8)) + "8,\n")
    )
    assert data.feature_names == ("width", "share")
    assert data.X[:8, 1].tolist() == [*numbers] * 4
    assert np.isnan(data.X[8, 1])
    assert any(note.startswith("'share': ") for note in data.notes)


@pytest.mark.parametrize("small", [True, False])
def test_a_mark_among_plain_numbers_is_a_slip_and_marks_of_two_kinds_are_no_numbers(tmp_path, monkeypatch, small):
    monkeypatch.setattr(delimited, "_SMALL", (1 << 18) if small else 0)
    rows = "".join(f"{i},{i}%\n" for i in range(20))
    with pytest.raises(sl.errors.SidelightError, match="expected a number, found '7 apples'"):
        sl.read(put(tmp_path / "a.csv", f"width,share\n{rows}20,7 apples\n"))
    rows = "".join(f"{i},{'$' if i % 2 else '€'}{i}\n" for i in range(20))
    assert sl.read(put(tmp_path / "b.csv", f"width,price\n{rows}")).feature_names == ("width",)


def test_with_a_table_of_labels_no_other_column_is_taken_for_them(tmp_path):
    rows, labels = tmp_path / "rows.csv", tmp_path / "labels.csv"
    rows.write_text("recording,width,note\na,1,loud\na,2,soft\nb,3,loud\nb,4,soft\n")
    labels.write_text("recording,species\na,wren\nb,owl\n")
    data = sl.read(rows, bag="recording", label_file=labels)
    assert not data.columns("label")
    assert data.bags.labels == {"a": {"wren"}, "b": {"owl"}}


def test_gzip_is_undone_on_the_way(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"f1,f2\n1,2\n3,4\n"))
    assert sl.read(path).X.tolist() == [[1, 2], [3, 4]]


# ---- roles and labels


BIRDS = "recording,f1,f2,species\nr1,1,2,wren\nr1,3,4,\nr2,5,6,owl\nr2,7,8,wren\nr3,9,9,\n"


def test_row_labels_in_bags_make_the_labels_of_bags(tmp_path):
    data = sl.read(put(tmp_path / "a.csv", BIRDS))
    assert data.y.tolist() == ["wren", "", "owl", "wren", ""]
    assert data.bags.labels["r1"] == {"wren"}
    assert data.bags.labels["r2"] == {"owl", "wren"}
    assert data.bags.labels["r3"] is None


def test_what_the_user_says_overrides_every_guess(tmp_path):
    data = sl.read(put(tmp_path / "a.csv", BIRDS), bag=False, label=False, features="f1")
    assert data.bags is None
    assert data.y is None
    assert data.feature_names == ("f1",)
    assert {r.name: r.role for r in data.roles}["recording"] == "ignored"


def test_label_sets_in_one_cell(tmp_path):
    text = "f1,tags\n1,a|b\n2,b\n3,a|c\n4,\n"
    data = sl.read(put(tmp_path / "a.csv", text))
    assert data.label_names == ("a", "b", "c")
    assert data.Y.tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 1], [-1, -1, -1]]


def test_bag_ids_keep_their_leading_zeros(tmp_path):
    data = sl.read(put(tmp_path / "a.csv", "bag,f1\n007,1\n007,2\n12,3\n"))
    assert data.bags.names == ("007", "12")


def test_a_long_table_of_items_and_labels(tmp_path):
    data = sl.read(put(tmp_path / "a.csv", "song,tag\ns1,rock\ns1,loud\ns2,rock\ns2,slow\n"))
    assert data.row_ids.tolist() == ["s1", "s2"]
    assert dict(zip(data.label_names, data.Y[0].tolist())) == {"loud": 1, "rock": 1, "slow": 0}


def test_channels_are_slices_of_the_features(tmp_path):
    text = "face_1,up_1,face_2,seq\n1,2,3,s1\n4,5,6,s1\n"
    data = sl.read(put(tmp_path / "a.csv", text), channels={"face": "face_*", "up": "up_*"}, sequence="seq")
    assert data.X[:, data.channels["face"]].tolist() == [[1, 3], [4, 6]]
    assert data.sequence.tolist() == ["s1", "s1"]


def test_parquet_with_lists_of_labels(tmp_path):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"bag": [1, 1, 2], "tags": [["a", "b"], ["a"], ["b"]], "f1": [0.5, None, 2.0]})
    frame.write_parquet(tmp_path / "a.parquet")
    data = sl.read(tmp_path / "a.parquet")
    assert dict(data.bags.labels) == {1: {"a", "b"}, 2: {"b"}}
    assert np.isnan(data.X[1, 0])


# ---- ARFF


KDIS = """@relation toy
 @attribute id {bag1,bag2}
 @attribute bag relational
   @attribute f1 numeric
   @attribute f2 numeric
 @end bag
 @attribute label1 {0,1}
 @attribute label2 {0,1}
 @data
 bag1,"42,-198\\n41.9,-191\\n35,14.2",1,0
 bag2,'11.25,-98\\n31,40.5',0,1
"""


def test_sparse_rows_stay_sparse(tmp_path):
    header = "@relation s\n@attribute a numeric\n@attribute b numeric\n@attribute class {x,y}\n@data\n"
    text = header + "{0 1.5}\n{1 2,2 y}\n{}\n"
    data = sl.read(put(tmp_path / "a.arff", text))
    assert sp.issparse(data.X)
    assert data.X.toarray().tolist() == [[1.5, 0], [0, 2], [0, 0]]
    assert data.y.tolist() == ["x", "y", "x"]


def test_mulan_xml_may_nest_labels(tmp_path):
    put(
        tmp_path / "a.xml",
        '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="sport"><label name="ball"/></label></labels>',
    )
    text = "@relation m\n@attribute f numeric\n@attribute sport {0,1}\n@attribute ball {0,1}\n@data\n1,1,0\n2,1,1\n"
    data = sl.read(put(tmp_path / "a-train.arff", text))
    assert data.Y.tolist() == [[1, 0], [1, 1]]
    assert data.tree.parents.tolist() == [-1, 0]


# ---- the others


def test_svmlight_with_several_labels_and_queries(tmp_path):
    data = sl.read(put(tmp_path / "a.svm", "1,3 qid:7 1:0.5 4:2\n2 qid:7 2:1 # note\n3 qid:8\n"))
    assert data.X.toarray().tolist() == [[0.5, 0, 0, 2], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert data.bags.names == (7, 8)
    assert data.Y.tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 1]]


# ---- writing


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet", ".npz"])
def test_what_was_written_reads_back_the_same(tmp_path, ending):
    X = np.random.default_rng(1).normal(size=(6, 3))
    bags = sl.Bags(["a", "a", "b", "b", "c", "c"], labels={"a": {"x", "y"}, "b": set(), "c": None})
    y = np.array(["x", "y", "", "", "y", "x"], dtype=object)
    data = sl.Dataset(X, ("f1", "f2", "f3"), bags=bags, y=y)
    sl.write(data, tmp_path / f"out{ending}")
    back = sl.read(tmp_path / f"out{ending}")
    assert np.array_equal(back.X, X)
    assert back.y.tolist() == y.tolist()
    assert dict(back.bags.labels) == dict(bags.labels)


@pytest.mark.parametrize(("first", "names"), [(0, ("0", "1", "2")), (1, ("1", "2", "3"))])
def test_svmlight_counts_from_its_lowest_index(tmp_path, first, names):
    """Index 0 somewhere in the file means that all of it counts from 0: no column is lost, and none is invented."""
    path = tmp_path / "rows.svm"
    path.write_text(f"1 {first + 2}:3\n-1 {first}:1 {first + 1}:2\n1 {first + 1}:5\n")
    data = sl.read(path, format="svmlight")
    assert data.X.toarray().tolist() == [[0, 0, 3], [1, 2, 0], [0, 5, 0]]
    assert tuple(name.lstrip("fx") for name in data.feature_names) == names


@pytest.mark.parametrize("kind", ["csv", "parquet", "large"])
def test_a_kept_feature_keeps_every_digit(tmp_path, kind, monkeypatch):
    """Ids of tweets and sensors are whole numbers beyond what a float64 can hold."""
    import polars as pl

    ids = [2**53 + 1, 2**53 + 3, 1234567890123456789, 7]
    frame = pl.DataFrame({"tweet": ids, "width": [1.5, 2.5, 3.5, 4.5]})
    path = tmp_path / ("t.parquet" if kind == "parquet" else "t.csv")
    frame.write_parquet(path) if kind == "parquet" else frame.write_csv(path)
    if kind == "large":
        monkeypatch.setattr("sidelight.files.text.delimited._SMALL", 1)
    data = sl.read(path, features=["tweet", "width"], keep="tweet", id=False)
    assert data.feature_names == ("tweet", "width")
    assert [str(cell) for cell in data.kept["tweet"].tolist()] == [str(number) for number in ids]
    assert sl.read(path, features=["tweet", "width"], keep="width", id=False).kept["width"].tolist() == [
        1.5,
        2.5,
        3.5,
        4.5,
    ]


def test_what_is_written_is_a_dataset_and_where_is_a_path(tmp_path):
    data = sl.read(_table(tmp_path))
    with pytest.raises(InvalidParameter, match="must be a path"):
        sl.write(data, np.eye(2))
    with pytest.raises(WrongKind, match="writes a Dataset"):
        sl.write(np.eye(2), tmp_path / "t.csv")


def _table(folder):
    (folder / "rows.csv").write_text("a,b\n" + "".join(f"{i},{i * 0.5}\n" for i in range(9)))
    return folder / "rows.csv"


@pytest.mark.parametrize("head", ["", "6 3\n"])
def test_rows_of_bags_as_they_are_written_for_mi_svm(tmp_path, head):
    rows = "".join(f"{i}:{10 + i // 2}:{i // 4} 1:{i}.5 3:{-i}\n" for i in range(6))
    (tmp_path / "musk.data").write_text(head + rows)
    data = sl.read(tmp_path / "musk.data")
    assert data.X.shape == (6, 3)
    assert [str(name) for name in data.bags.names] == ["10", "11", "12"]
    assert [str(label) for label in data.y] == ["0", "0", "0", "0", "1", "1"]
