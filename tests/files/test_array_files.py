"""Files of arrays: IDX, NPY, NPZ and Parquet; what is written, and events."""

from __future__ import annotations

import io
import struct
import zipfile
from itertools import count

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight.errors import InvalidData, InvalidParameter, UnreadableFile, WrongKind
from sidelight.files import writing
from sidelight.files.arrays import npz, parquet
from sidelight.files.arrays.idx import load_idx
from sidelight.files.arrays.npz import load_npz
from sidelight.files.arrays.parquet import ParquetSource
from sidelight.files.source import Source

X = np.arange(6.0).reshape(3, 2)


# ---- IDX


def idx(array, code):
    """Return an array as IDX."""
    return b"\0\0" + bytes([code, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


PIXELS = np.arange(12, dtype=">u1").reshape(3, 2, 2)


def test_pictures_and_the_labels_beside_them(tmp_path):
    path = tmp_path / "t-images-idx3-ubyte"
    path.write_bytes(idx(PIXELS, 8))
    data = sl.read(path)
    assert (data.X.tolist(), data.feature_names) == (PIXELS.reshape(3, 4).tolist(), ("r0c0", "r0c1", "r1c0", "r1c1"))
    assert (data.y, data.format, data.path) == (None, "IDX", str(path))
    (tmp_path / "t-labels-idx1-ubyte").write_bytes(idx(np.array([7, 8, 7], dtype=">u1"), 8))
    data = sl.read(path)
    assert data.y.tolist() == ["7", "8", "7"]
    assert {role.name: role.why for role in data.roles}["t-labels-idx1-ubyte"] == "beside the images"
    assert sl.read(path, label=False).y is None
    other = tmp_path / "mine"
    other.write_bytes(idx(np.array([1, 2, 3], dtype=">u1"), 8))
    data = sl.read(path, label_file=other)
    assert data.y.tolist() == ["1", "2", "3"]
    assert {role.name: role.why for role in data.roles}["mine"] == "you said so"
    for wrong in (np.array([1, 2], dtype=">u1"), np.ones((3, 1), dtype=">u1")):
        other.write_bytes(idx(wrong, 8))
        with pytest.raises(InvalidData, match="expected 3 labels"):
            sl.read(path, label_file=other)
    with pytest.raises(InvalidData, match="these are labels"):
        sl.read(tmp_path / "t-labels-idx1-ubyte")


@pytest.mark.parametrize(("code", "kind"), [(8, ">u1"), (9, ">i1"), (11, ">i2"), (12, ">i4"), (13, ">f4"), (14, ">f8")])
def test_every_type_of_idx(tmp_path, code, kind):
    array = np.array([[1, 2, 3], [4, 5, 6]], dtype=kind)
    (tmp_path / "a").write_bytes(idx(array, code))
    assert np.array_equal(load_idx(tmp_path / "a"), array)
    assert sl.read(tmp_path / "a").feature_names == ("f0", "f1", "f2")


@pytest.mark.parametrize(
    "content",
    [
        b"\0\0\x08", b"\0\1\x08\x01\0\0\0\1a", b"\0\0\x07\x01\0\0\0\1a", b"\0\0\x08\0", b"\0\0\x08\x02\0\0\0\1",
        idx(PIXELS, 8)[:-1], idx(PIXELS, 8) + b"a", b"\0\0\x08\x01\0\0\0\0",
    ],
    ids=count(),
)  # fmt: skip
def test_idx_that_is_wrong(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(UnreadableFile, match="a: "):
        load_idx(tmp_path / "a")


# ---- NPY and NPZ


def npy(array, version=(1, 0)):
    """Return an array as NPY."""
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_in_either_order(tmp_path, version, order):
    (tmp_path / "rows.npy").write_bytes(npy(np.asarray(X, order=order), version))
    data = sl.read(tmp_path / "rows.npy")
    assert data.X.tolist() == X.tolist()
    assert [role.name for role in data.roles] == ["rows"]
    (tmp_path / ".npy").write_bytes(npy(X))
    assert [role.name for role in sl.read(tmp_path / ".npy").roles] == ["X"]


@pytest.mark.parametrize(
    "content",
    [npy(X)[:-1], npy(X) + b"a", b"\x93NUMPY\x01\x00damaged", npy(np.array([b"a", "b"], dtype=object)),
     npy(X).replace(b"(3, 2)", b"(-3,-2"), npy(np.array(["ab"])).replace(b"a\0\0\0", b"\xff\xff\xff\x7f")],
    ids=count(),
)  # fmt: skip
def test_arrays_that_are_wrong(tmp_path, content):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(UnreadableFile, match=r"a\.npy"):
        sl.read(tmp_path / "a.npy")


def test_archives_of_arrays(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, X=X, empty=np.empty((0, 2)), words=np.array(["a", "bc"]), one=np.array(5))
    found = load_npz(path)
    assert {name: value.shape for name, value in found.items()} == {
        "X": (3, 2),
        "empty": (0, 2),
        "words": (2,),
        "one": (),
    }
    assert found["words"].tolist() == ["a", "bc"]
    total = sum(info.file_size for info in zipfile.ZipFile(path).infolist())
    monkeypatch.setattr(npz, "MAX_UNPACKED", total)
    monkeypatch.setattr(npz, "MAX_RATIO", 0)
    assert len(load_npz(path)) == 4
    monkeypatch.setattr(npz, "MAX_UNPACKED", total - 1)
    with pytest.raises(UnreadableFile, match="bomb"):
        load_npz(path)
    monkeypatch.setattr(npz, "MAX_RATIO", total / path.stat().st_size)
    assert len(load_npz(path)) == 4
    with zipfile.ZipFile(path, "w"):
        pass
    with pytest.raises(UnreadableFile, match="empty archive"):
        load_npz(path)


def sparse(tmp_path, **changes):
    """Write a sparse matrix as SciPy does, changed."""
    parts = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": np.array([2, 3])}
    np.savez(tmp_path / "a.npz", **{name: value for name, value in (parts | changes).items() if value is not None})
    return load_npz(tmp_path / "a.npz")


def test_sparse_matrices_in_archives(tmp_path):
    found = sparse(tmp_path, ids=np.array([5, 6]), format=np.array(b"csr"), _is_array=np.array(True))
    assert set(found) == {"X", "ids"}
    assert found["X"].toarray().tolist() == [[1, 0, 0], [0, 1, 0]]
    assert sparse(tmp_path)["X"].shape == (2, 3)
    assert sparse(tmp_path, format=np.array("csc"), shape=np.array([3, 2]))["X"].toarray().tolist() == [
        [1, 0],
        [0, 1],
        [0, 0],
    ]
    assert sparse(tmp_path, shape=np.array([[2, 3]]))["X"].shape == (2, 3)
    empty = sparse(
        tmp_path,
        data=np.empty(0),
        indices=np.empty(0, dtype=int),
        indptr=np.zeros(1, dtype=int),
        shape=np.array([0, 3]),
    )
    assert empty["X"].shape == (0, 3)
    assert set(sparse(tmp_path, indptr=None)) == {"data", "indices", "shape"}
    for wrong in (
        {"format": np.array("coo")}, {"shape": np.array([2])}, {"shape": np.array([2, 3, 4])},
        {"shape": np.array([-2, 3])},
        {"indices": np.array([0, 3])}, {"indptr": np.array([0, 2, 1])}, {"indices": np.array([0, -1])},
    ):  # fmt: skip
        with pytest.raises(UnreadableFile, match="expected a sparse matrix"):
            sparse(tmp_path, **wrong)


# ---- Parquet


def test_columns_of_parquet_of_every_kind(tmp_path, monkeypatch):
    frame = pl.DataFrame({
        "w": ["x", None, "y"], "c": pl.Series(["u", "v", "u"], dtype=pl.Categorical), "n": [1, None, 3],
        "b": [True, False, None],
        "t": [" 1.5", "2", None], "l": [["p", "q"], ["p"], []],
    })  # fmt: skip
    frame.write_parquet(tmp_path / "a.parquet")
    for most in (parquet.SLICE, 2, 1):
        monkeypatch.setattr(parquet, "SLICE", most)
        table = ParquetSource(Source(tmp_path / "a.parquet"))
        assert (table.names, table.n_rows, table.title) == (("w", "c", "n", "b", "t", "l"), 3, "Parquet")
        loaded = table.load([2, 4, 3], [0, 1, 5, 3])
        assert np.array_equal(loaded.X, [[1, 1.5, 1], [np.nan, 2, 0], [3, np.nan, np.nan]], equal_nan=True)
        assert [loaded.texts[j].objects().tolist() for j in (0, 1, 5, 3)] == [
            ["x", "", "y"], ["u", "v", "u"], ["p|q", "p", ""], ["1", "0", ""],
        ]  # fmt: skip
        frames = list(table.frames([0], 2))
        assert [cell for piece in frames for cell in piece["w"].to_list()] == ["x", "", "y"]
        assert [cell for piece in table.frames([0], None) for cell in piece.columns] == ["w"] * len(frames)
    assert table.sample()[1][:5] == ["", "v", "", "0", "2"]
    assert table.location(1) == "row 2"
    monkeypatch.setattr(parquet, "_LONGEST", 1)
    pl.DataFrame({"w": ["abc", "de"]}).write_parquet(tmp_path / "b.parquet")
    assert ParquetSource(tmp_path / "b.parquet").sample() == [["a"], ["d"]]
    with pytest.raises(InvalidData, match="column 'w': expected numbers"):
        ParquetSource(tmp_path / "b.parquet").load([0], [])


def test_a_name_with_brackets_is_one_file(tmp_path):
    pl.DataFrame({"a": [1.5, 2.5]}).write_parquet(tmp_path / "a[12].parquet")
    assert ParquetSource(tmp_path / "a[12].parquet").n_rows == 2


# ---- writing


def everything(form=np.asarray):
    """Return a data set that has all there is."""
    bags = sl.Bags(["p", "p", "q"], labels={"p": {"u", "v"}, "q": set()})
    return sl.Dataset(
        form(np.array([[1.5, 0], [np.nan, 2], [3, 4]])), ("f", "label"),
        row_ids=np.array(["r1", "r2", "r3"], dtype=object),
        bags=bags, y=np.array(["u", "", "v"], dtype=object), truth=np.array(["u", "u", "v"], dtype=object),
        sequence=np.array([7, 7, 8]), show={"note": np.array(["x", "y", "z"], dtype=object)},
    )  # fmt: skip


@pytest.mark.parametrize("ending", [".csv", ".CSV.gz", ".parquet"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_tables_hold_all_there_is(tmp_path, monkeypatch, ending, form):
    monkeypatch.setattr(writing, "_CHUNK", 2)
    (told,) = sl.write(everything(form), tmp_path / f"a{ending}")
    assert f"{(tmp_path / f'a{ending}').stat().st_size:,} bytes" in told
    back = sl.read(
        tmp_path / f"a{ending}",
        label="label",
        features=["f", "feature_label"],
        show="note",
        sequence="sequence",
        truth="truth",
        label_level="row",
    )
    assert np.array_equal(back.X, [[1.5, 0], [np.nan, 2], [3, 4]], equal_nan=True)
    assert (back.row_ids.tolist(), back.sequence.tolist()) == (["r1", "r2", "r3"], [7, 7, 8])
    assert dict(back.bags.labels) == {"p": {"u", "v"}, "q": set()}
    assert (back.y.tolist(), back.truth.tolist()) == (["u", "", "v"], ["u", "u", "v"])
    assert back.show["note"].tolist() == ["x", "y", "z"]
    if ending == ".CSV.gz":
        assert (tmp_path / f"a{ending}").read_bytes()[4:8] == b"\0" * 4  # no time: the same data, the same bytes


def test_columns_are_called_as_one_likes_and_marks_are_columns(tmp_path):
    writing.write(everything(), tmp_path / "a.csv", called={"bag": "recording", "id": "row"})
    first = (tmp_path / "a.csv").read_text().splitlines()[0]
    assert first == "row,recording,sequence,label,truth,bag_labels,note,f,feature_label"
    marked = sl.Dataset(X, ("f", "g"), Y=np.array([[1, 0], [-1, 1], [0, 0]], dtype=np.int8), label_names=("u", "v"))
    sl.write(marked, tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text().splitlines()[:3] == ["label_u,label_v,f,g", "1,0,0.0,1.0", ",1,2.0,3.0"]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_archives_hold_all_there_is(tmp_path, form):
    sl.write(everything(form), tmp_path / "a.npz")
    back = sl.read(tmp_path / "a.npz")
    assert sp.issparse(back.X) == (form is sp.csr_array)
    assert (back.feature_names, back.row_ids.tolist()) == (("f", "label"), ["r1", "r2", "r3"])
    assert (back.y.tolist(), back.sequence.tolist()) == (["u", "", "v"], [7, 7, 8])
    assert dict(back.bags.labels) == {"p": {"u", "v"}, "q": set()}
    marked = sl.Dataset(X, ("f", "g"), Y=np.array([[1, 0], [0, 1], [0, 0]], dtype=np.int8), label_names=("u", "v"))
    sl.write(marked, tmp_path / "b.npz")
    back = sl.read(tmp_path / "b.npz")
    assert (back.Y.tolist(), back.label_names) == ([[1, 0], [0, 1], [0, 0]], ("u", "v"))
    plain = sl.Dataset(X, ("f", "g"), bags=sl.Bags([1, 1, 2]))
    sl.write(plain, tmp_path / "c.npz")
    assert "bag_labels" not in load_npz(tmp_path / "c.npz")


def test_what_cannot_be_written(tmp_path, monkeypatch):
    for path in ("a.txt", "a", "a.gz"):
        with pytest.raises(InvalidParameter, match="ends with"):
            sl.write(everything(), tmp_path / path)
    with pytest.raises(WrongKind, match="list"):
        sl.write([1], tmp_path / "a.csv")
    names = ["a|b", "a;b", "a&b"]
    data = sl.Dataset(X, ("f", "g"), bags=sl.Bags([1, 1, 2], labels={1: set(names), 2: set()}))
    sl.write(data, tmp_path / "a.csv")
    assert "a&b@a;b@a|b" in (tmp_path / "a.csv").read_text()
    data = sl.Dataset(X, ("f", "g"), bags=sl.Bags([1, 1, 2], labels={1: {*names, "a@b"}, 2: set()}))
    with pytest.raises(InvalidData, match="No mark is free"):
        sl.write(data, tmp_path / "a.csv")
    monkeypatch.setattr(writing, "_WIDEST", 6)
    wide = sl.Dataset(sp.csr_array(X), ("f", "g"))
    sl.write(wide, tmp_path / "a.csv")
    monkeypatch.setattr(writing, "_WIDEST", 5)
    with pytest.raises(InvalidData, match="too many to write"):
        sl.write(wide, tmp_path / "a.csv")
    sl.write(sl.Dataset(X, ("f", "g")), tmp_path / "a.csv")


# ---- events


def events(tmp_path, text, **said):
    """Read a table of events."""
    (tmp_path / "a.csv").write_text(text)
    return sl.read(tmp_path / "a.csv", **said)


def test_events_with_gaps_are_left_out_and_told(tmp_path):
    data = events(tmp_path, "u,v,n\na,x,2\n,x,1\nb,y,\na,x,1\nb,,\n", events=["u", "v"], weight="n")
    assert (data.row_ids.tolist(), data.feature_names) == (["a"], ("x",))
    assert data.X.toarray().tolist() == [[3]]
    (left,) = data.left_out
    assert (left.names.tolist(), set(left.columns), left.n_rows) == ([2, 3, 5], {"u", "v", "n"}, 5)
    assert "line 3" in left.place
    assert events(tmp_path, "u,v\na,x\nb,y\n", events=["u", "v"]).left_out == ()
    with pytest.raises(InvalidData, match="every row has a gap"):
        events(tmp_path, "u,v\na,\n,y\n", events=["u", "v"])
    for cell in ("-1", "inf"):
        with pytest.raises(InvalidData, match="line 3, column 'n'"):
            events(tmp_path, f"u,v,n\na,x,0\nb,y,{cell}\n", events=["u", "v"], weight="n")


def test_events_of_three_axes_and_names_in_order(tmp_path):
    data = events(tmp_path, "u,v,w\n10,x,p\n9,y,q\n10,x,p\n", events=["u", "v", "w"])
    assert data.counts.axes == ("u", "v", "w")
    assert list(data.counts.labels["u"]) == [9, 10]
    assert data.n_features == 0
    data = events(tmp_path, "u,v\n10,x\n9,y\n10,x\n", events=["u", "v"])
    assert (data.row_ids.tolist(), data.X.toarray().tolist()) == ([9, 10], [[0, 1], [2, 0]])


def test_the_truth_of_things_in_events(tmp_path):
    text = "u,v,t\na,x,k\na,y,k\nb,x,\nb,y,m\nc,x,k\nc,y,m\nd,x,\n"
    data = events(tmp_path, text, events=["u", "v"], truth="t")
    assert (data.row_ids.tolist(), data.truth.tolist()) == (list("abcd"), ["k", "m", "", ""])
    assert any("1 of 4 'u' have several kinds" in note for note in data.notes)
    data = events(tmp_path, text.replace("c,y,m", "c,y,k"), events=["u", "v"], truth="t")
    assert not any("several kinds" in note for note in data.notes)
