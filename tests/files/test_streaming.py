"""A table block by block says what it says as a whole, however it is cut."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData
from sidelight.files import streaming
from sidelight.files.arrays.parquet import ParquetSource
from sidelight.files.roles.plan import asked
from sidelight.files.source import Source
from sidelight.files.streaming import Features, RowsInBlocks, align
from sidelight.files.text import blocks, delimited
from sidelight.files.text.delimited import DelimitedSource

WIDTH = [0.5, 1.5, None, 3.5, 4.5, 5.5, 6.5, 7.5]
TABLE = {
    "name": [f"n{i}" for i in range(8)],
    "recording": ["r1", "r1", "r1", "r2", "r3", "r3", "r4", "r4"],
    "species": ["wren;owl", "wren;owl", "wren;owl", "", "owl", "owl", "wren", "wren"],
    "width": WIDTH,
    "count": [7, 9, 2**53 + 1, 3, 4, 5, 6, 1],
    "colour": ["red", "blue", "red", "red", "blue", "green", "", "red"],
    "note": list("abcdefgh"),
}
TORN = [0, 3, 1, 4, 6, 2, 5, 7]  # the rows of bags do not stand together


@pytest.fixture(params=["small", "pieces", "buckets", "parquet", "parquet in pieces"])
def in_blocks(request, tmp_path, monkeypatch):
    """Read a table in blocks, in each of the ways there are."""
    monkeypatch.setattr(delimited, "_SMALL", 1 << 18 if request.param == "small" else 0)
    if request.param != "small":
        monkeypatch.setattr(blocks, "BLOCK", 70)
        monkeypatch.setattr(streaming, "_MOST", 2 if request.param.endswith("pieces") else 100)
        monkeypatch.setattr(streaming, "_BUCKET", 7)

    def read(rows=range(8), features=None, n_words=0, label_file=None, **said):
        frame = pl.DataFrame(TABLE)[list(rows)]
        if request.param.startswith("parquet"):
            frame.write_parquet(tmp_path / "a.parquet")
            source = ParquetSource(Source(tmp_path / "a.parquet"))
        else:
            frame.write_csv(tmp_path / "a.csv")
            source = DelimitedSource(Source(tmp_path / "a.csv"))
        made = RowsInBlocks(source, asked(**said), features, n_words=n_words, label_file=label_file)
        return made, list(made)

    return read


def by_row(found, of):
    """Return something of every row, in the order of the file."""
    told = {int(n): value for data in found for n, value in zip(data.row_numbers, of(data))}
    return [told[n] for n in sorted(told)]


@pytest.mark.parametrize("order", [range(8), TORN])
def test_every_row_comes_once_with_what_it_is(in_blocks, order):
    made, found = in_blocks(order, id="name", label="species", features=["width"], keep=["count", "note"])
    assert by_row(found, lambda data: range(data.n_rows)) is not None
    width = np.array([WIDTH[i] for i in order], dtype=float)
    assert np.array_equal(by_row(found, lambda data: data.X[:, 0].tolist()), width, equal_nan=True)
    assert by_row(found, lambda data: data.row_ids.tolist()) == [f"n{i}" for i in order]
    assert by_row(found, lambda data: data.kept["note"].tolist()) == [TABLE["note"][i] for i in order]
    assert [str(v) for v in by_row(found, lambda data: data.kept["count"].tolist())] == [
        str(TABLE["count"][i]) for i in order
    ]
    assert made.extra == ["colour"]
    for data in found:
        assert data.location(0) == f"row {data.row_numbers[0]}"
        assert data.feature_names == ("width",)


@pytest.mark.parametrize(("order", "is_torn"), [(range(8), False), (TORN, True)])
def test_the_rows_of_a_bag_come_together_and_in_order(in_blocks, order, is_torn):
    made, found = in_blocks(order, bag="recording", label="species", features=["width"])
    bags = [TABLE["recording"][i] for i in order]
    names = [data.bags.names[code] for data in found for code in data.bags.codes]
    assert sorted(names) == sorted(bags)
    assert sum(a != b for a, b in pairwise(names)) == 3
    assert made.is_sorted_here == is_torn
    for data in found:
        for code in range(data.bags.n_bags):
            rows = data.row_numbers[data.bags.codes == code]
            assert (np.diff(rows) > 0).all()
        assert [data.bags.names[c] for c in data.bags.codes] == [bags[n - 1] for n in data.row_numbers]
        for name, labels in data.bags.labels.items():
            assert labels == {"r1": {"wren", "owl"}, "r2": None, "r3": {"owl"}, "r4": {"wren"}}[name]


def test_features_are_found_by_name_and_words_of_a_column_are_features(in_blocks):
    _, found = in_blocks(features=["colour=red", "width", "colour=green"], id=False, label=False)
    red = by_row(found, lambda data: data.X[:, 0].tolist())
    assert red == [1, 0, 1, 1, 0, 0, 0, 1]
    assert by_row(found, lambda data: data.X[:, 2].tolist()) == [0, 0, 0, 0, 0, 1, 0, 0]
    assert {data.feature_names for data in found} == {("colour=red", "width", "colour=green")}


def test_labels_may_lie_in_a_second_table_and_columns_may_be_of_no_use(in_blocks, tmp_path):
    (tmp_path / "labels.csv").write_text("recording,kind\nr1,a\nr2,b\nr3,a\nr4,b\n")
    _, found = in_blocks(bag="recording", features=["width"], label_file=tmp_path / "labels.csv")
    told = {name: labels for data in found for name, labels in data.bags.labels.items() if labels is not None}
    assert told == {"r1": {"a"}, "r2": {"b"}, "r3": {"a"}, "r4": {"b"}}
    made, found = in_blocks(features=[], id=False, bag=False, label=False)
    assert sum(data.n_rows for data in found) == 8
    assert len(made.extra) == 7


def test_sequences_labels_of_bags_and_guessed_features_are_read(in_blocks):
    _, found = in_blocks(sequence="recording", label=False, id=False)
    assert by_row(found, lambda data: data.sequence.tolist()) == TABLE["recording"]
    assert found[0].feature_names == ("width", "count")
    _, found = in_blocks(bag="recording", bag_label="species", features=["width"], label=False)
    assert {k: v for data in found for k, v in data.bags.labels.items()}["r1"] == {"wren", "owl"}
    _, found = in_blocks(bag="recording", label="species", label_separator="|", features=["width"])
    assert {k: v for data in found for k, v in data.bags.labels.items()}["r1"] == {"wren;owl"}


def test_words_of_texts_are_features_at_the_end(in_blocks):
    from sidelight.files.text.words import counting_known

    with counting_known(("red", "blue")):
        _, found = in_blocks(features=["width", "red", "blue"], n_words=2, text="colour", id=False, label=False)
        cells = np.concatenate([data.X.toarray() for data in sorted(found, key=lambda data: data.row_numbers[0])])
    assert cells[:, 1].tolist() == [1, 0, 1, 1, 0, 0, 0, 1]
    assert cells[:, 2].tolist() == [0, 1, 0, 0, 1, 0, 0, 0]


def test_labels_of_bags_that_are_not_there_are_refused_where_all_bags_are_seen(tmp_path):
    (tmp_path / "a.csv").write_text("recording,width\nr1,1\nr1,2\nr2,3\n")
    (tmp_path / "labels.csv").write_text("recording,kind\nr1,a\nr9,b\n")
    source = DelimitedSource(Source(tmp_path / "a.csv"))
    with pytest.raises(InvalidData, match="r9"):
        list(RowsInBlocks(source, asked(bag="recording"), ["width"], label_file=tmp_path / "labels.csv"))


def test_features_that_are_missing_are_named(tmp_path):
    found = Features.found(tmp_path, ["a", "c=x=1", "c=y"], ["a", "c", "c=x"])
    assert (found.numbers, found.words) == (("a",), {"c=x=1": "c=x", "c=y": "c"})
    for names in (["a", "b"], ["a", "b", "d=x"]):
        with pytest.raises(InvalidData, match="'b'"):
            Features.found(tmp_path, names, ["a", "c"])
    found = Features.of_texts(["a", "b", "u", "v"], 2, ["t"])
    assert (found.names, found.numbers, found.texts) == (("a", "b", "u", "v"), ("a", "b"), ("t",))


def test_columns_are_put_into_the_order_of_the_model():
    data = Dataset(np.arange(6.0).reshape(2, 3), ("a", "b", "c"))
    assert align(data, None) is data
    assert align(data, ["a", "b", "c"]) is data
    assert align(data, ["c", "a"]).X.tolist() == [[2, 0], [5, 3]]
    assert align(data, ["c", "a"]).feature_names == ("c", "a")
    with pytest.raises(InvalidData, match="'d'"):
        align(data, ["a", "d"])


def test_wishes_about_the_whole_table_do_not_reach_into_its_blocks(in_blocks):
    _, found = in_blocks(
        features=["width"], id="name", bag="recording", label="species", truth="colour", show="note", ignore="note",
        channels={"c": "width"}, missing_words=["owl"],
    )  # fmt: skip
    assert sum(data.n_rows for data in found) == 8
    told = {name: labels for data in found for name, labels in data.bags.labels.items()}
    assert (told["r3"], told["r4"]) == (None, {"wren"})
    assert all(data.truth is None and data.channels is None and not data.show for data in found)
    _, found = in_blocks(features=["width"], weight="count", keep=["count"], label=False, id=False, bag=False)
    assert sum(data.n_rows for data in found) == 8


def test_no_bag_is_cut_where_a_piece_of_the_table_ends():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        keys = np.repeat(rng.permutation(12), rng.integers(1, 6, size=12))
        table = pl.DataFrame({"bag": keys, "row": np.arange(len(keys))})
        ends = np.sort(rng.choice(np.arange(1, len(keys)), size=6, replace=False)).tolist()
        pieces = [table[start:end] for start, end in zip([0, *ends], [*ends, len(keys)])]
        out = list(streaming._whole_bags(iter(pieces), "bag"))
        assert len(out) > 2
        assert pl.concat(out).equals(table)
        assert sum(piece["bag"].n_unique() for piece in out) == 12
