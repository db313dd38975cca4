"""Answers about pairs as other tools export them: which columns name rows, hold answers, and say who answered."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from sidelight.data.names import Names
from sidelight.files.reading import label_table
from sidelight.files.roles.cells import is_number
from sidelight.files.roles.names import WORKERS, key_of


def _set(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(","))


YES = _set(
    "same, 1, 1.0, true, yes, y, must-link, ml, match, duplicate, identical, equal, accept, ja, gleich, identisch, "
    "oui, identique, si, sí, igual"
)
NO = _set(
    "different, 0, 0.0, -1, false, no, n, cannot-link, cl, not same, mismatch, no match, distinct, reject, nein, "
    "verschieden, ungleich, unterschiedlich, non, différent, diferente"
)
UNSURE = _set(
    "unsure, ?, skip, skipped, ignore, unknown, don't know, dont know, maybe, unclear, unsicher, unklar, vielleicht, "
    "weiß nicht, weiss nicht, na, n/a, nan, none, null,"
)
_ROWS = (
    _set("left, links, gauche, item1, itema, row1, rowa, id1, ida, image1, imagea, object1, objecta, text1, texta"),
    _set("right, rechts, droite, item2, itemb, row2, rowb, id2, idb, image2, imageb, object2, objectb, text2, textb"),
)
_SAID = _set(
    "answer, choice, choices, label, verdict, judgment, judgement, decision, response, urteil, antwort, same, sentiment"
)
_WHO = WORKERS | _set("person, user, username, useremail, email, completedby, who, wer, createdby, member")
_ASIDE = _set("weight, time, seconds, confidence, leadtime, score, duration")
_MOST, _MANY = 0.8, 0.5  # share of the cells of a column that must be answers; of one that is called so
_SHARE = 0.3  # share of the names of one column that come back in the other, where no table says what rows are called
_FEWEST_NAMES = 3  # different names in a column of rows


def opened(path: Path) -> tuple[Names, list[list[str]]]:
    """Return the columns of a table of answers as texts; tasks of Label Studio become a line an annotation."""
    lines = _of_label_studio(path) if path.suffix.lower() == ".json" else None
    if lines:
        names = list(dict.fromkeys(name for line in lines for name in line))
        return tuple(names), [[line.get(name, "") for line in lines] for name in names]
    source = label_table(path)
    every = range(len(source.names))
    loaded = source.load([], list(every))
    return tuple(source.names), [[str(cell) for cell in loaded.texts[j].objects().tolist()] for j in every]


def arranged(
    columns: Names, cells: Sequence[Sequence[str]], rows: Collection[str] | None = None, words: Collection[str] = ()
) -> tuple[Names, list[list[str]]] | None:
    """Return left, right, answer, annotator and the other columns; None where the table shows no such columns.

    Parameters
    ----------
    columns : sequence of str
        The names of the columns.
    cells : sequence of sequence of str
        Their cells.
    rows : collection of str, optional
        The names of the rows that answers are about; without them columns that share names are taken.
    words : collection of str
        Further words for answers.
    """
    keys = [_key(name) for name in columns]
    said = [
        j for j, column in enumerate(cells) if keys[j] not in _ASIDE and _are_answers(column, words, keys[j] in _SAID)
    ]
    named = [j for j in said if keys[j] in _SAID]
    pair = _pair_of_rows(keys, cells, set(named or said), rows)
    said = [j for j in said if pair is not None and j not in pair]
    if pair is None or not said:
        return None
    who = next((j for j, key in enumerate(keys) if key in _WHO and j not in (*pair, *said)), None)
    others = [j for j in range(len(columns)) if j not in (*pair, *said, who)]
    if named or who is not None or len(said) == 1:
        answer = next((j for j in said if j in named), said[0])
        order = [*pair, answer, *([] if who is None else [who])]
        names = ["left", "right", "answer", "annotator"][: len(order)]
        more = [j for j in range(len(columns)) if j not in order]
        return (*names, *(str(columns[j]) for j in more)), [list(cells[j]) for j in (*order, *more)]
    left, right = ([cell for _ in said for cell in cells[j]] for j in pair)
    answers = [cell for j in said for cell in cells[j]]
    people = [str(columns[j]) for j in said for _ in cells[j]]
    kept = [[cell for _ in said for cell in cells[j]] for j in others]
    return ("left", "right", "answer", "annotator", *(str(columns[j]) for j in others)), [
        left,
        right,
        answers,
        people,
        *kept,
    ]


def person_in(columns: Sequence[str]) -> str | None:
    """Return the column that says who answered, by its name in the exports of other tools."""
    return next((name for name in columns if _key(name) in _WHO), None)


def name_their_rows(columns: Names) -> bool:
    """Say whether two columns are called as the sides of a pair are: a table of answers says so itself."""
    keys = {_key(name) for name in columns}
    return all(keys & names for names in _ROWS)


def _key(name: Any) -> str:
    """Return the last part of the name of a column, as other names are compared."""
    return key_of(str(name).rpartition(".")[2])


def _are_answers(column: Sequence[str], words: Collection[str], is_called: bool) -> bool:
    found = [cell.strip().lower() for cell in column]
    told = [cell for cell in found if cell not in UNSURE]
    known = sum(cell in YES or cell in NO or cell in words for cell in told)
    return known > 0 and known >= (_MANY if is_called else _MOST) * len(told) and len(set(told)) <= len(YES) + len(NO)


def _pair_of_rows(
    keys: Sequence[str], cells: Sequence[Sequence[str]], answers: Collection[int], rows: Collection[str] | None
) -> tuple[int, int] | None:
    """Return the two columns that name rows: those that are called so, else the first two that hold names of rows."""
    free = [j for j in range(len(keys)) if j not in answers and keys[j] not in (_ASIDE | _WHO)]
    called = [next((j for j in free if keys[j] in names), None) for names in _ROWS]
    pairs = [(called[0], called[1])] if None not in called else []
    pairs += [(a, b) for a in free for b in free if a < b]
    distinct = {j: {cell.strip() for cell in cells[j]} for j in free}
    for a, b in pairs:
        assert a is not None  # none of the pairs has a gap
        assert b is not None
        if min(len(distinct[a]), len(distinct[b])) < _FEWEST_NAMES and (a, b) != (called[0], called[1]):
            continue
        if rows is not None:
            fits = all(2 * sum(name in rows for name in distinct[j]) > len(distinct[j]) for j in (a, b))
        else:
            are_called, are_numbers = (a, b) == (called[0], called[1]), all(map(is_number, distinct[a] | distinct[b]))
            are_shared = len(distinct[a] & distinct[b]) >= _SHARE * min(len(distinct[a]), len(distinct[b]))
            fits = (are_called or are_shared) if not are_numbers else (are_called and are_shared)
        if fits and 2 * sum(x.strip() == y.strip() for x, y in zip(cells[a], cells[b])) < len(cells[a]):
            return a, b
    return None


def _of_label_studio(path: Path) -> list[dict[str, str]]:
    """Return a line for each annotation of an export of tasks; nothing where a file is none."""
    try:
        tasks = json.loads(path.read_text(encoding="utf-8"))
        lines = []
        for task in tasks:
            for one in task["annotations"]:
                chosen = [choice for result in one["result"] for choice in result["value"].get("choices", ())]
                who = one.get("completed_by", "")
                who = who.get("email", who.get("id", "")) if isinstance(who, dict) else who
                said = {"choice": chosen[0] if len(chosen) == 1 else "", "annotator": str(who)}
                lines.append({name: str(value) for name, value in task["data"].items()} | said)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, IndexError):
        return []
    return lines
