"""Labels of bags in columns of numbers, in exact cells, and as kinds: read as they are meant, written as they came."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import up_to

import sidelight as sl
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData

KINDS = ("wren", "owl", "jay")


def drawn(n_bags: int = 30, seed: int = 0) -> list[list[int]]:
    """Return the kinds of the rows of each bag."""
    rng = np.random.default_rng(seed)
    return [rng.choice(3, size=rng.integers(4, 12), p=rng.dirichlet([1, 1, 1])).tolist() for _ in range(n_bags)]


def written(path: Path, cells, *, bag: str = "recording", names=KINDS, before=(), bags=None) -> Path:
    """Write rows with two features, and beside each what ``cells(number of the bag, counts)`` says of its bag."""
    rng = np.random.default_rng(1)
    with path.open("w", newline="", encoding="utf-8") as handle:
        lines = csv.writer(handle)
        lines.writerow([bag, "pitch", "length", *before, *names])
        for b, kinds in enumerate(bags or drawn()):
            said = cells(b, np.bincount(kinds, minlength=3))
            for kind in kinds:
                lines.writerow([f"{bag} {b}", *np.round(rng.normal(size=2) + kind, 3), *said])
    return path


@pytest.mark.parametrize("bag", ["recording", "plot of land"])
def test_whole_numbers_that_add_up_to_the_rows_are_counts(tmp_path, bag):
    data = sl.read(written(tmp_path / "t.csv", lambda b, n: n, bag=bag))
    assert data.feature_names == ("pitch", "length")
    kinds = drawn()[0]
    assert data.bags.said[f"{bag} 0"] == {k: (kinds.count(i), kinds.count(i)) for i, k in enumerate(KINDS)}
    assert not data.doubts
    assert any("count the rows of a bag" in str(note) for note in data.notes)


def test_an_altitude_beside_the_counts_stays_a_feature(tmp_path):
    path = written(tmp_path / "t.csv", lambda b, n: [200 + b // 2, *n], before=("altitude",))
    data = sl.read(path)
    assert "altitude" in data.feature_names
    assert data.bags.classes == KINDS


def test_a_count_that_no_two_bags_share_is_a_count(tmp_path):
    bags = [[0] * (b + 1) + [1, 2] for b in range(8)]
    assert sl.read(written(tmp_path / "t.csv", lambda b, n: n, bags=bags)).bags.said["recording 6"]["wren"] == (7, 7)


@pytest.mark.parametrize(
    "form", [lambda n: n / n.sum(), lambda n: 100 * n / n.sum(), lambda n: [f"{v:.1f} %" for v in 100 * n / n.sum()]]
)
def test_numbers_that_add_up_to_one_or_a_hundred_are_shares(tmp_path, form):
    data = sl.read(written(tmp_path / "t.csv", lambda b, n: form(n)))
    for b, kinds in enumerate(drawn()):
        said = data.bags.said[f"recording {b}"]
        assert said["wren"] == pytest.approx((kinds.count(0), kinds.count(0)), abs=0.02)
    assert any("shares" in str(note) for note in data.notes)


def test_two_columns_of_shares_are_asked_about(tmp_path):
    cells = lambda b, n: np.array([n[0], n[1] + n[2]]) / n.sum()  # noqa: E731 - a table of one line
    data = sl.read(written(tmp_path / "t.csv", cells, names=("yes_votes", "no_votes")))
    assert data.label_names == ("yes_votes", "no_votes")
    assert "add up to 1 or 100" in data.doubts[0].question


def test_numbers_of_something_else_say_what_is_there_and_are_asked_about(tmp_path):
    data = sl.read(written(tmp_path / "t.csv", lambda b, n: 2 * n))
    assert not data.bags.said
    assert data.bags.labels["recording 0"] == {KINDS[k] for k in drawn()[0]}
    assert "how many were seen" in data.doubts[0].question
    assert any("something else than rows" in str(note) for note in data.notes)


def test_a_gap_beside_marks_of_one_and_zero_is_a_maybe(tmp_path):
    cells = lambda b, n: ["" if k == b % 5 else int(n[k] > 0) for k in range(3)]  # noqa: E731 - a table of one line
    data = sl.read(written(tmp_path / "t.csv", cells))
    assert data.bags.said["recording 0"]["wren"] == (0, None)
    assert "recording 3" not in data.bags.said  # nothing is missing there


def test_the_user_says_what_numbers_are(tmp_path):
    path = written(tmp_path / "t.csv", lambda b, n: n)
    there = sl.read(path, label=list(KINDS), bag="recording", label_numbers="present")
    assert not there.bags.said
    shares = sl.read(
        written(tmp_path / "s.csv", lambda b, n: 100 * n / n.sum()),
        label=KINDS,
        bag="recording",
        label_numbers="shares",
    )
    assert shares.bags.counts_rows


def test_a_bag_whose_shares_do_not_add_up_is_named(tmp_path):
    cells = lambda b, n: [0.9, 0.4, 0.0] if b == 4 else n / n.sum()  # noqa: E731 - a table of one line
    path = written(tmp_path / "t.csv", cells)
    data = sl.read(path)
    assert data.bags.labels["recording 4"] is None
    assert any("'recording 4'" in str(note) for note in data.notes)
    with pytest.raises(InvalidData, match=r"bag 'recording 4' \('wren': 0.9.* add up to 1\.3"):
        sl.read(path, label=KINDS, bag="recording", label_numbers="shares")


def test_fractions_as_counts_are_refused_by_bag_and_label(tmp_path):
    path = written(tmp_path / "t.csv", lambda b, n: n + 0.5 * (b == 2))
    with pytest.raises(InvalidData, match=r"bag 'recording 2' has .* in the label column 'wren'"):
        sl.read(path, label=KINDS, bag="recording", label_numbers="rows")


def test_a_bag_whose_rows_disagree_about_numbers_is_told(tmp_path):
    path = written(tmp_path / "t.csv", lambda b, n: n)
    lines = path.read_text(encoding="utf-8").splitlines()
    last = lines[1].rsplit(",", 1)
    path.write_text("\n".join([lines[0], f"{last[0]},77", *lines[2:]]), encoding="utf-8")
    data = sl.read(path, label=KINDS, bag="recording")
    assert data.bags.labels["recording 0"] is None
    assert any("disagree about its numbers, for example 'recording 0'" in str(note) for note in data.notes)


def test_a_second_table_may_hold_counts_beside_dates_and_names(tmp_path):
    rows = written(tmp_path / "rows.csv", lambda b, n: (), names=())
    lines = ["site,date,observer,wren,owl,jay"]
    lines += [
        f"recording {b},2024-05-{b % 28 + 1:02d},Ann,{','.join(map(str, np.bincount(kinds, minlength=3)))}"
        for b, kinds in enumerate(drawn())
    ]
    (tmp_path / "counts.csv").write_text("\n".join(lines), encoding="utf-8")
    data = sl.read(rows, bag="recording", label_file=tmp_path / "counts.csv")
    assert data.bags.said["recording 0"]["wren"] == (drawn()[0].count(0),) * 2
    assert any("'date'" in str(note) and "not used" in str(note) for note in data.notes)


def test_sp_is_one_of_the_kinds_of_its_genus(tmp_path):
    cells = ["Turdus merula", "Turdus philomelos; Strix aluco", "Turdus sp.", "Strix aluco; Turdus sp."]
    lines = ["site,seen,f", *(f"s{b},{cell},{b}.{i}" for b, cell in enumerate(cells) for i in range(3))]
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    data = sl.read(tmp_path / "t.csv", bag="site", label="seen", label_separator=";")
    assert data.bags.classes == ("Strix aluco", "Turdus merula", "Turdus philomelos")
    assert data.bags.said["s2"] == {"Turdus sp.": (1, None)}
    again = again_of(data, tmp_path / "u.csv")
    assert again.bags.said == data.bags.said


def test_a_genus_counts_with_its_kinds(tmp_path):
    cells = [
        "Turdus merula x2, Turdus sp. x1",
        "Turdus philomelos x3",
        "Turdus merula x3",
        "Turdus merula x1, Turdus sp. x2",
    ]
    lines = ["site;seen;f", *(f"s{b};{cell};{b}.{i}" for b, cell in enumerate(cells) for i in range(3))]
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    data = sl.read(tmp_path / "t.csv", bag="site", label="seen", label_separator=",")
    assert data.bags.said["s0"] == {"Turdus merula": (2, None), "Turdus sp.": (3, 3)}


def again_of(data: Dataset, path: Path) -> Dataset:
    sl.write(data, path)
    return sl.read(path)


ENDS = (".csv", ".npz", ".parquet")
words = st.sampled_from(["present", "maybe", "absent", (1, 3), (2, None), 1])


@st.composite
def some_said(draw: st.DrawFn) -> sl.Bags:
    """Bags that say more than lists, in every way there is."""
    sizes = draw(st.lists(st.integers(3, 8), min_size=3, max_size=7))
    names = ("wren", "jay, blue", "Turdus merula", "10")[: draw(st.integers(2, 4))]
    ids = np.repeat([f"r{b}" for b in range(len(sizes))], sizes)
    way = draw(st.sampled_from(["counts", "shares", "marks", "words", "levels"]))
    told = {}
    for b, size in enumerate(sizes):
        counts = np.bincount(draw(st.lists(st.integers(0, len(names) - 1), min_size=size, max_size=size)), minlength=4)
        if way == "counts":
            told[f"r{b}"] = {name: int(n) for name, n in zip(names, counts)}
        elif way == "shares":
            told[f"r{b}"] = {name: float(n) / size for name, n in zip(names, counts)}
        elif way == "marks":
            told[f"r{b}"] = {n: "present" if k else "maybe" for n, k in zip(names, counts) if k or draw(st.booleans())}
        elif way == "words":
            told[f"r{b}"] = {name: draw(words) for name in draw(st.sets(st.sampled_from(names), max_size=2))}
        else:
            told[f"r{b}"] = {
                draw(st.sampled_from(["bird", "song", "wren"])): draw(st.sampled_from(["present", "maybe"]))
            }
    tree = ["bird/song/wren", "bird/owl", "bird/song/Turdus merula"] if way == "levels" else None
    partial = ["r1"] if way == "words" and draw(st.booleans()) else []
    return sl.Bags(ids, **{"shares" if way == "shares" else "labels": told}, tree=tree, partial=partial)


@settings(max_examples=up_to(60))  # each one writes a file
@given(some_said(), st.sampled_from(ENDS))
def test_writing_and_reading_keeps_all_that_bags_say(tmp_path_factory, bags, ending):
    X = np.random.default_rng(0).normal(size=(len(bags), 2))
    data = Dataset(X, ("f0", "f1"), "made", "made", bags=bags, label_names=tuple(bags.classes))
    again = again_of(data, tmp_path_factory.mktemp("law") / f"t{ending}").bags
    assert again.said == bags.said
    assert again.labels == bags.labels
    assert np.array_equal(again.is_partial, bags.is_partial)
    used = {name for said in bags.said.values() for name in said} | {n for s in bags.labels.values() for n in s or ()}
    assert used <= set(again.classes) | set(getattr(again.demands, "nodes", ()))


def test_counts_and_shares_are_written_in_columns(tmp_path):
    for form in (lambda b, n: n, lambda b, n: n / n.sum()):
        data = sl.read(written(tmp_path / "t.csv", form))
        sl.write(data, tmp_path / "u.csv")
        head = (tmp_path / "u.csv").read_text(encoding="utf-8").splitlines()[0]
        assert head == "bag,label_wren,label_owl,label_jay,pitch,length"
        assert sl.read(tmp_path / "u.csv").bags == data.bags


def test_cells_that_are_nearly_exact_are_texts_and_nothing_breaks(tmp_path):
    for cell in ('{"wren": {"any of": 3}}', '{"a":' * 5000):
        path = tmp_path / "t.csv"
        path.write_text(
            "bag,f,labels\n" + "".join(f'b{i // 2},{i},"{cell.replace(chr(34), chr(34) * 2)}"\n' for i in range(8))
        )
        assert sl.read(path, bag="bag", label="labels").n_rows == 8


def test_a_label_called_like_the_others_is_refused_where_a_cell_would_say_something_else(tmp_path):
    bags = sl.Bags(list("aabb"), labels={"a": {"...": 2}, "b": {"wren": (1, 2)}})
    with pytest.raises(InvalidData, match=r"A label is called '\.\.\.'"):
        sl.write(sl.Dataset(np.eye(4), tuple("abcd"), bags=bags), tmp_path / "t.csv")
    assert not (tmp_path / "t.csv").exists()
