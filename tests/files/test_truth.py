"""Lists of names beside other columns: which column names the bags, and which one says what each row truly is."""

from __future__ import annotations

import pytest

import sidelight as sl

LISTS = {f"t{b}": [["fox"], ["fox", "owl"], ["owl", "hare"], ["hare"]][b % 4] for b in range(8)}
ROWS = [(trap, "|".join(names), names[i % len(names)], i) for trap, names in LISTS.items() for i in range(4)]


def table(path, header, line, rows=ROWS):
    path.write_text("\n".join([header, *(line.format(*row) for row in rows)]) + "\n")
    return path


def roles(data):
    return {role.name: role.role for role in data.roles if role.role != "feature"}


@pytest.mark.parametrize("name", ["true kind", "truth", "what", "class"])
@pytest.mark.parametrize("bag", ["trap", "recording"])
def test_a_truth_of_rows_is_found_beside_the_lists_of_bags(tmp_path, name, bag):
    data = sl.read(table(tmp_path / "t.csv", f"{bag},animals,{name},x", "{0},{1},{2},{3}.5"))
    assert roles(data) == {bag: "bag", "animals": "label", name: "truth"}
    assert data.bags.labels["t1"] == {"fox", "owl"}
    assert data.y is None
    assert data.truth.tolist() == [row[2] for row in ROWS]
    assert data.take(range(4, 8)).truth.tolist() == ["fox", "owl", "fox", "owl"]


def test_the_lists_may_be_named_and_the_truth_be_coded(tmp_path):
    rows = [(trap, names, ("fox", "owl", "hare").index(kind), i) for trap, names, kind, i in ROWS]
    data = sl.read(table(tmp_path / "t.csv", "recording,species,gt,x", "{0},{1},{2},{3}.5", rows))
    assert roles(data) == {"recording": "bag", "species": "label", "gt": "truth"}
    assert set(data.truth) == {"0", "1", "2"}


def test_what_is_said_about_the_truth_is_believed(tmp_path):
    path = table(tmp_path / "t.csv", "trap,animals,true kind,x", "{0},{1},{2},{3}.5")
    assert sl.read(path, truth=False).truth is None
    said = sl.read(path, truth="trap", bag=False, label=False)
    assert said.truth.tolist() == [row[0] for row in ROWS]
    with pytest.raises(sl.errors.SidelightError, match="there is no column 'kind' \\(asked for as truth\\)"):
        sl.read(path, truth="kind")


def test_a_truth_is_written_and_read_back(tmp_path):
    data = sl.read(table(tmp_path / "t.csv", "trap,animals,true kind,x", "{0},{1},{2},{3}.5"))
    sl.write(data, tmp_path / "again.csv")
    again = sl.read(tmp_path / "again.csv")
    assert again.truth.tolist() == data.truth.tolist()
    assert again.bags == data.bags


def test_the_first_things_of_events_may_have_a_truth(tmp_path):
    rows = [(f"u{i % 6}", f"f{i % 4}", "old" if i % 6 < 3 else "young", 1 + i % 2) for i in range(48)]
    path = table(tmp_path / "t.csv", "user,film,true group,n", "{0},{1},{2},{3}", rows)
    for data in (sl.read(path), sl.read(path, events=["user", "film"]), sl.read(path, truth="true group")):
        assert dict(zip(data.row_ids, data.truth)) == {f"u{i}": "old" if i < 3 else "young" for i in range(6)}
    torn = table(tmp_path / "torn.csv", "user,film,group", "{0},{1},{2}", [*rows, ("u0", "f0", "young", 1)])
    data = sl.read(torn, events=["user", "film"], truth="group")
    assert dict(zip(data.row_ids, data.truth))["u0"] == ""
    assert any("1 of 6 'user' have several kinds" in note for note in data.notes)
