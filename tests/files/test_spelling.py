"""Labels as two people write them: further marks, blanks, capitals, and names that look alike."""

from __future__ import annotations

import pytest

import sidelight as sl
from sidelight.data.dataset import TOLD
from sidelight.files.roles.cells import further_marks

_KINDS = ("Rotkehlchen", "Zaunkönig", "Grünspecht", "Amsel", "Buchfink", "Kohlmeise", "Kleiber")


def table(path, cells, rows=2):
    """Write a table of bags whose every row repeats the list of its bag."""
    lines = ["recording\tspecies\tf"]
    lines += [f"r{b}\t{cell}\t{b}.{i}" for b, cell in enumerate(cells) for i in range(rows)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def two_people(n=40):
    """Return lists of which one in three is written with another mark."""
    lists = [[_KINDS[(b * step) % 7] for step in (1, 2, 4)][: 1 + b % 3] for b in range(1, n + 1)]
    return lists, [("; " if b % 3 == 0 else ", ").join(names) for b, names in enumerate(lists)]


def told(data):
    return [str(note) for note in data.notes if getattr(note, "code", "") == TOLD]


def test_lists_with_two_marks_are_split_by_both(tmp_path):
    lists, cells = two_people()
    data = sl.read(table(tmp_path / "a.tsv", cells), bag="recording", label="species")
    assert set(data.label_names) == set(_KINDS)
    assert [data.bags.labels[f"r{b}"] for b in range(len(lists))] == [frozenset(names) for names in lists]
    assert any("stand between" in note for note in told(data))


def test_a_mark_that_was_named_is_the_only_one(tmp_path):
    _, cells = two_people()
    data = sl.read(table(tmp_path / "a.tsv", cells), bag="recording", label="species", label_separator=",")
    assert any(";" in name for name in data.label_names)


def test_names_with_a_mark_of_their_own_stay_whole():
    assert further_marks({"salt & pepper", "oil", "salt"}, ",") == ()
    assert further_marks({"Meier, Karl", "Müller, Hans", "Karl"}, ";") == ()
    assert further_marks({"wren; owl", "owl", "wren", "jay"}, ",") == (";",)


def test_blanks_and_capitals_are_mended_and_told(tmp_path):
    cells = ["Rotkehlchen"] * 12 + ["Amsel"] * 9 + ["rotkehlchen", "Rotkehlchen  ", "Amsel\u00a0"]
    data = sl.read(table(tmp_path / "a.tsv", cells), bag="recording", label="species")
    assert set(data.label_names) == {"Amsel", "Rotkehlchen"}
    assert any("'rotkehlchen' for 'Rotkehlchen'" in note for note in told(data))


@pytest.mark.parametrize("odd", ["gruenspecht", "grünspecht", "Grunspecht", "GRÜNSPECHT", "Grünspect"])
def test_names_that_look_alike_are_offered_as_one(tmp_path, odd):
    cells = ["Grünspecht"] * (12 if odd == "Grünspect" else 2) + ["Amsel"] * 9 + [odd]
    path = table(tmp_path / "a.tsv", cells)
    data = sl.read(path, bag="recording", label="species")
    assert odd in data.label_names
    note = next(note for note in data.notes if "look alike" in note)
    assert note.do[1].value == {odd: "Grünspecht"}
    merged = sl.read(path, bag="recording", label="species", same={odd: "Grünspecht"})
    assert set(merged.label_names) == {"Amsel", "Grünspecht"}
    assert not told(merged)
    apart = sl.read(path, bag="recording", label="species", same={odd: odd})
    assert odd in apart.label_names
    assert not told(apart)


def test_names_of_one_list_are_two(tmp_path):
    cells = ["Grunspecht, Grünspecht", "Grünspecht", "Grünspecht, Amsel", "Amsel"] * 3
    data = sl.read(table(tmp_path / "a.tsv", cells), bag="recording", label="species")
    assert len(data.label_names) == 3
    assert not told(data)


def test_numbers_tell_labels_apart(tmp_path):
    data = sl.read(table(tmp_path / "a.tsv", ["cluster 1"] * 20 + ["cluster 2"]), bag="recording", label="species")
    assert len(data.label_names) == 2
    assert not told(data)


def test_a_name_that_no_label_has_is_told(tmp_path):
    path = table(tmp_path / "a.tsv", ["Amsel", "Kleiber", "Amsel"])
    data = sl.read(path, bag="recording", label="species", same={"Amsl": "Amsel"})
    assert any("no label is called 'Amsl'" in note for note in told(data))
    with pytest.raises(sl.errors.InvalidParameter, match="same"):
        sl.read(path, same=["Amsel"])
