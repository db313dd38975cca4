"""Parts: the same rows, bags and labels whatever they come from and however they lie in files."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import polars as pl
import pytest

import sidelight as sl
from sidelight.data import parts as parts_module
from sidelight.errors import InvalidData, InvalidParameter, UnknownName, UnreadableFile

N_BAGS, SIZE, D = 40, 7, 3


def table(*, names=str):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(N_BAGS * SIZE, D)).astype(np.float32)
    bag = np.repeat(np.arange(N_BAGS), SIZE)
    lists = [sorted({"wren", "owl", "jay"} - {("wren", "owl", "jay")[b % 3]}) for b in range(N_BAGS)]
    cells = [None if b % 10 == 9 else "|".join(lists[b]) for b in bag]
    frame = pl.DataFrame({f"f{j}": X[:, j] for j in range(D)}).with_columns(
        pl.Series("bag", [names(b) if names is int else f"r{b:02d}" for b in bag.tolist()]), pl.Series("species", cells)
    )
    return X, frame


def write(folder, frame, cuts):
    folder.mkdir(exist_ok=True)
    for number, (a, z) in enumerate(itertools.pairwise(cuts)):
        frame[a:z].write_parquet(folder / f"part-{number:03d}.parquet")
    return str(folder / "*.parquet")


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(parts_module, "BLOCK", 32)


def everything(parts, n_blocks=2):
    """Read all parts: rows, bags, numbers and where blocks are cut."""
    recipes = pickle.loads(pickle.dumps(parts.parts(n_blocks)))
    rows = np.concatenate([part.rows() for part in recipes])
    bags = [part.lists().as_bags(parts.classes) for part in recipes]
    said = {name: labels for one in bags for name, labels in one.labels.items()}
    cuts = [part.first_row + cut for part in recipes for cut in part.cuts[:-1]]
    assert all(set(part.cuts) <= {0, *np.cumsum(one.sizes).tolist()} for part, one in zip(recipes, bags))
    return rows, said, np.concatenate([part.numbers() for part in recipes]).tolist(), cuts


@pytest.mark.parametrize("names", [str, int])
def test_the_same_rows_bags_and_blocks_for_any_files(tmp_path, names):
    X, frame = table(names=names)
    n = len(X)
    seen = []
    for number, cuts in enumerate(([0, n], [0, 70, 140, n], [0, 33, 34, 35, 200, n])):  # the last cut bags apart
        parts = sl.Parts.from_parquet(write(tmp_path / str(number), frame, cuts), bag="bag", labels="species")
        assert parts.shape == (n, D)
        assert parts.n_bags == N_BAGS
        seen.append(everything(parts))
    bags = sl.Bags(frame["bag"].to_list(), labels=seen[0][1])
    seen.append(everything(sl.Parts.from_arrays(X, bags)))
    seen.append(everything(sl.Parts.from_frame(frame.lazy(), bag="bag", labels="species"), n_blocks=5))
    for rows, said, numbers, cuts in seen:
        assert np.array_equal(rows, X)
        assert len(said) == N_BAGS
        assert said == seen[0][1]
        assert numbers == list(range(n))
        assert cuts == seen[0][3]
    first = f"r{0:02d}" if names is str else 0
    assert seen[0][1][first] == {"owl", "jay"}


def test_a_list_column_and_gaps(tmp_path):
    frame = pl.DataFrame(
        {"x": [0.0, 1.0, 2.0, 3.0], "bag": [1, 1, 2, 3], "l": [["b", "a"], ["a", "b"], [], None]},
        schema_overrides={"l": pl.List(pl.String)},
    )
    parts = sl.Parts.from_parquet(write(tmp_path / "a", frame, [0, 4]), bag="bag", labels="l")
    assert everything(parts)[1] == {1: {"a", "b"}, 2: frozenset(), 3: None}


def test_a_sample_is_whole_bags_that_do_not_depend_on_files(tmp_path):
    _, frame = table()
    samples = [
        sl.Parts.from_parquet(write(tmp_path / str(k), frame, cuts), bag="bag", labels="species").sample(100)
        for k, cuts in enumerate(([0, 280], [0, 50, 99, 280]))
    ]
    (X, bags), (X2, bags2) = samples
    assert np.array_equal(X, X2)
    assert bags == bags2
    assert set(bags.sizes) == {SIZE}
    assert 40 <= len(X) <= 180
    assert len(sl.Parts.from_frame(frame, bag="bag").sample(10_000)[0]) == 280  # all of them


def test_bags_whose_rows_are_apart_are_known_as_such(tmp_path):
    _, frame = table()
    mixed = frame[np.random.default_rng(0).permutation(len(frame)).tolist()]
    parts = sl.Parts.from_parquet(write(tmp_path / "a", mixed, [0, 100, 280]), bag="bag")
    assert not parts.survey.is_arranged
    assert parts.n_bags == N_BAGS
    with pytest.raises(InvalidData, match="do not stand together"):
        parts.parts()


def test_arrays_whose_bags_are_apart_are_read_bag_by_bag():
    X = np.arange(12.0).reshape(6, 2)
    parts = sl.Parts.from_arrays(X, sl.Bags(["a", "b", "a", "b", "c", "a"], labels={"a": {"wren"}}))
    rows, said, numbers, _ = everything(parts)
    assert numbers == [0, 2, 5, 1, 3, 4]
    assert np.array_equal(rows, X[numbers])
    assert said["a"] == {"wren"}
    assert said["b"] is None


def test_rows_without_bags(tmp_path):
    X, frame = table()
    parts = sl.Parts.from_parquet(write(tmp_path / "a", frame, [0, 280]))
    assert parts.feature_names == ("f0", "f1", "f2")
    assert parts.parts()[0].lists() is None
    assert 50 <= len(parts.sample(100)[0]) <= 150
    assert parts.n_bags == len(X)


def test_one_column_is_not_bags_and_labels(tmp_path):
    with pytest.raises(InvalidParameter, match="'bag' cannot name the bags and hold their labels"):
        sl.Parts.from_parquet(write(tmp_path, table()[1], [0, 280]), bag="bag", labels="bag")


def test_an_empty_file_is_no_part(tmp_path):
    _, frame = table()
    parts = sl.Parts.from_parquet(write(tmp_path / "a", frame, [0, 140, 140, 280]), bag="bag")
    assert parts.n_rows == 280
    assert len(parts.sources) == 2
    with pytest.raises(InvalidData, match="not a single row in 1 file"):
        sl.Parts.from_parquet(write(tmp_path / "b", frame, [0, 0]), bag="bag")


def other(frame, change):
    return {
        "missing": frame.drop("f1"),
        "new": frame.with_columns(f9=pl.lit(1.0)),
        "text": frame.with_columns(pl.col("f1").cast(pl.String)),
        "ids": frame.with_columns(bag=pl.lit(3)),
        "gap": frame.with_columns(bag=pl.when(pl.col("bag") == "r30").then(None).otherwise(pl.col("bag"))),
        "torn": frame.with_columns(species=pl.when(pl.col("f0") > 1).then(pl.lit("wren")).otherwise("species")),
    }[change]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ("missing", UnknownName, "part-001.*no column 'f1', a feature of the files before it"),
        ("new", InvalidData, "part-001.*'f9' is not in the files before"),
        ("text", InvalidData, "part-001.*'f1': expected numbers, found String"),
        ("ids", InvalidData, "part-001.*whole numbers here and by text"),
        ("gap", InvalidData, "part-001.*row 71: nothing in the column 'bag'"),
        ("torn", InvalidData, "part-001.*another list of labels"),
    ],
)
def test_files_that_differ_are_refused_by_name(tmp_path, change, error, words):
    _, frame = table()
    pattern = write(tmp_path / "a", frame, [0, 140, 280])
    other(frame[140:], change).write_parquet(tmp_path / "a" / "part-001.parquet")
    with pytest.raises(error, match=words):
        _ = sl.Parts.from_parquet(pattern, bag="bag", labels="species").n_bags


def test_no_file_and_a_damaged_one(tmp_path):
    with pytest.raises(UnreadableFile, match="no such file"):
        sl.Parts.from_parquet(str(tmp_path / "*.parquet"))
    (tmp_path / "x.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(UnreadableFile, match="cut off or damaged"):
        sl.Parts.from_parquet(tmp_path)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's own way of reading
def test_dask_reads_small_files_together_when_it_counts_and_no_row_is_lost(tmp_path):
    dataframe = pytest.importorskip("dask.dataframe", reason="the extra dask is not installed")
    (X, frame), cuts = table(), [0, 50, 107, 150, N_BAGS * SIZE]
    pattern = write(tmp_path, frame.with_columns([pl.col("species").alias(f"x{j}") for j in range(9)]), cuts)
    lazy = dataframe.read_parquet(pattern, columns=frame.columns)  # fewer columns: more files make one partition
    told = everything(sl.Parts.from_dask(lazy, bag="bag", labels="species"))
    assert np.array_equal(told[0], X)


def test_dask_frames_and_arrays_are_the_same_rows():
    dataframe = pytest.importorskip("dask.dataframe", reason="the extra dask is not installed")
    import dask.array

    X, frame = table()
    seen = everything(sl.Parts.from_frame(frame, bag="bag", labels="species"))
    lazy = dataframe.from_pandas(frame.to_pandas(), npartitions=5, sort=False)
    told = everything(sl.Parts.from_dask(lazy, bag="bag", labels="species"))
    bags = sl.Bags(frame["bag"].to_list(), labels=seen[1])
    chunks = everything(sl.Parts.from_dask(dask.array.from_array(X, chunks=(60, 2)), bags=bags))
    for one in (told, chunks):
        assert np.array_equal(one[0], X)
        assert one[1:] == seen[1:]
