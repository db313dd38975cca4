"""The scored rules: what speaks for and against a column being an id, a bag, a time, a name, a label; each says why.

A rule is a function of a column; it returns the sentence that it says, or None where it does not speak. Its points add
up with those of the others that speak for the same role. What spoke is kept with the data, and shown
on request; ``make bench BENCH=understanding`` judges them on real files, source by source.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice, pairwise

from sidelight.files.roles.looks import Facts, stem
from sidelight.files.roles.names import (
    BAGS,
    IDS,
    LABELS,
    LATITUDES,
    LONGITUDES,
    MOMENTS,
    PERSONAL,
    PLACES,
    SEQUENCES,
    SHOWN,
    SPLITS,
    TIMES,
    WEAK_LABELS,
    is_called_id,
    is_code_name,
    words_of,
)
from sidelight.files.roles.plan import Plan

Test = Callable[[Facts, int, Plan], str | None]
SURELY_RUNNING = 25  # rows of 1, 2, 3, ... that are no measurement
CLASS_SIZE = 20  # rows of each value from which on a running number looks like sorted classes
MOST_CLASSES = 30
_NUMBERED = re.compile(r"(num|no|nr|nbr|code|key|fips)$")
FAMILY = 5  # columns alike from which on one of them is no answer


@dataclass
class Rule:
    """One rule: for which role it speaks, what it weighs, and when it does."""

    role: str
    points: float
    test: Test

    @property
    def name(self) -> str:
        """What the rule is called."""
        return self.test.__name__.removeprefix("_").replace("_", " ")


RULES: list[Rule] = []


def rule(role: str, points: float) -> Callable[[Test], Test]:
    """Add a rule to the table."""

    def add(test: Test) -> Test:
        RULES.append(Rule(role, points, test))
        return test

    return add


# ---- measures and words: what a column is where nothing else speaks


@rule("feature", 2.0)
def _numbers(t: Facts, j: int, plan: Plan) -> str | None:
    return "numbers" if t.looks[j].is_number else None


# ---- ids


@rule("id", 5.0)
def _called_id(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = look.is_unique and look.n_seen > 1 and (look.kind == "text" or look.is_whole) and not look.is_prose
    called = is_called_id(look.name) or (look.is_number and look.n_seen > 9 and _NUMBERED.search(look.key))
    return "different in every row and called so" if fits and called else None


@rule("id", 4.5)
def _counts_the_rows(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    enough = look.n_seen >= SURELY_RUNNING or not look.has_name
    fits = look.is_consecutive and look.n_seen > 3 and enough
    fits = fits and any(k != j and k not in plan.why for k in t.numbers)
    return "1, 2, 3, ... in the order of the rows" if fits else None


@rule("id", 2.6)
def _rises_without_a_rule(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    if t.first_named < j or not (
        look.is_whole and look.is_number and look.is_unique and look.is_full and look.is_rising
    ):
        return None
    steps = {_number(b) - _number(a) for a, b in pairwise(t.cells(j))}
    fits = look.has_name and look.n_seen >= SURELY_RUNNING and len(steps) > 2 and len(t.looks) > 3
    return "the first column, different whole numbers that rise by uneven steps" if fits else None


@rule("id", 4.0)
def _file_of_its_own(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    whole = look.is_unique and look.n_seen == look.n_rows > 3
    return "a file of its own for every row" if look.is_media and whole else None


@rule("id", 4.0)
def _hash_of_its_own(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    return "a name that a program made, different in every row" if look.is_hash and look.is_unique and look.is_full \
        else None  # fmt: skip


@rule("id", 4.0)
def _first_words_without_a_name(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = j == 0 and look.name == "column_1" and look.kind == "text" and look.is_unique and look.n_seen > 1
    return "different in every row" if fits and not look.is_prose and not look.is_time else None


@rule("id", 3.0)
def _name_of_its_own(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    plain = look.kind == "text" and look.mean_length <= 40 and not look.is_prose and not look.separator
    plain = plain and not look.is_time and not look.dressed and not look.odd and not look.is_called(SHOWN | LABELS)
    return "a name of its own for every row" if plain and look.is_unique and look.n_seen >= max(5, look.n_rows) \
        else None  # fmt: skip


@rule("id", 3.0)
def _code_of_its_own(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = look.is_number and look.is_whole and look.is_unique and look.is_full and look.n_seen > 3
    fits = fits and not look.is_place_code
    return "whole numbers, different in every row, called like a code" if fits and is_code_name(look.name) else None


# ---- bags


@rule("bag", 4.5)
def _called_bag(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    is_bag_name = look.is_called(BAGS)
    named = is_bag_name or (look.key.endswith("id") and look.key not in IDS and look.is_sorted_run)
    if not named or look.is_prose or look.is_time or (look.separator and not is_bag_name) or not _come_back(t, j):
        return None
    if look.is_tick or (look.n_distinct < 4 and look.n_seen > CLASS_SIZE * look.n_distinct and look.key not in BAGS):
        return None  # a few large groups are classes
    if look.is_called(WEAK_LABELS) and look.kind == "text" and look.is_few and look.n_seen >= 8 * look.n_distinct:
        return None  # so are few words under a name that means both, such as a group
    return f"its name, and its {look.n_distinct} values come back {where(t, j)}".strip()


@rule("bag", 5.5)
def _held_the_rows(t: Facts, j: int, plan: Plan) -> str | None:
    return "the record that holds the rows" if t.looks[j].name == t.bag_hint and _come_back(t, j) else None


@rule("bag", 3.0)
def _files_come_back(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = look.is_media and 1 < look.n_distinct < look.n_seen
    return f"names of {look.n_distinct} files that come back {where(t, j)}".strip() if fits else None


def _come_back(t: Facts, j: int) -> bool:
    look = t.looks[j]
    return not look.is_unique and look.n_distinct > 1 and (look.kind == "text" or look.is_whole)


@rule("sequence", 5.0)
def _called_sequence(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = look.key in SEQUENCES and look.is_sorted_run and (look.kind == "text" or look.is_whole)
    return "its name, and equal values stand together" if fits and look.n_distinct > 1 else None


# ---- what is no measure: times, names, parts, totals


@rule("time", 6.0)
def _when(t: Facts, j: int, plan: Plan) -> str | None:
    return "times: when a row was, not what it is" if t.looks[j].is_time else None


@rule("time", 2.5)
def _called_time(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = look.key in MOMENTS and look.kind == "number" and look.low >= 0 and (look.is_whole or look.is_rising)
    return "called like a time: when a row was, not what it is" if fits else None


@rule("time", 2.5)
def _within_its_bag(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = look.kind == "number" and plan.bag is not None and look.is_called(TIMES)
    return "called like the time of a row within its bag: where it was, not what it is" if fits else None


@rule("time", 2.5)
def _as_another_time(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    if not (look.is_number and look.is_rising and look.n_distinct > 9 and look.low >= 10_000):
        return None
    cells = [_number(cell) for cell in t.cells(j)]
    if len({b - a for a, b in pairwise(cells)}) > 3:
        return None  # what grows with time is no time
    same = [k for k in t.has_times if k != j and t.is_same(j, k)]
    return f"says the same as the times in {t.looks[same[0]].name!r}" if same else None


@rule("name", 3.0)
def _called_code(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    if look.kind == "text" and look.last_word in ("number", "id", "code", "nr") and look.is_name:
        return "called like a name of something else" if not look.is_called(LABELS) else None
    if not (look.is_number and look.is_whole) or look.kind == "0/1" or not is_code_name(look.name):
        return None
    return "whole numbers called like a name (who, where, which), not like an amount; it may be the bag"


@rule("name", 3.0)
def _called_id_and_comes_back(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = look.key in IDS and look.is_whole and not look.is_unique and look.is_number
    return "called like an id, but its values come back; it may be the bag" if fits else None


@rule("name", 3.0)
def _another_id(t: Facts, j: int, plan: Plan) -> str | None:
    if plan.id in (None, j) or not t.looks[j].is_number:
        return None
    return _called_id(t, j, plan) or _rises_without_a_rule(t, j, plan)


@rule("name", 3.0)
def _runs_of_one_length(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    if not (look.is_whole and look.is_number and look.is_sorted_run and look.is_full) or look.n_distinct < 8:
        return None
    rest = sorted(Counter(t.cells(j)).values())[1:]  # the last run may be cut by the end of the rows that are seen
    alike = rest[0] == rest[-1] > 2 and look.key not in ("x", "y", "z", "row", "col", "column")
    return f"{rest[0]} rows of each value, one after the other: who or which, not how much" if alike else None


@rule("name", 3.0)
def _leading_zeros(t: Facts, j: int, plan: Plan) -> str | None:
    cells = t.cells(j) if t.looks[j].is_number and t.looks[j].is_whole else ()
    padded = sum(len(cell) > 1 and cell[0] == "0" and cell.isdecimal() for cell in cells)
    return "whole numbers with zeros in front, as codes have" if padded > max(1, 0.02 * len(cells)) else None


@rule("name", 3.0)
def _random_number(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    return "numbers of random size: a name that a program made" if look.is_hash and look.is_number else None


@rule("name", 2.5)
def _far_larger_than_all_others(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    if look.has_name or not look.is_number or not look.is_whole or look.n_distinct < 0.8 * look.n_seen or look.low < 0:
        return None
    highs = sorted(t.looks[k].high for k in t.numbers if k != j) if look.high > 1e5 else []
    far = len(highs) > 2 and look.high > 200 * max(1.0, highs[len(highs) // 2])
    far = far and 4 * sum(cell.endswith("0") for cell in t.cells(j)) < t.n_rows  # amounts are often round
    return "whole numbers far larger than those of other columns, nearly all different" if far else None


@rule("name", 2.5)
def _status_code(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = look.is_whole and look.last_word in ("status", "statuscode", "code") and 100 <= look.low <= look.high <= 599
    return "three-digit codes of a state" if fits and look.n_distinct < 40 else None


@rule("name", 2.5)
def _code_of_a_word(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    if not (look.is_number and look.is_whole and 2 < look.n_distinct <= look.n_seen // 2):
        return None
    words = (k for k in t.words if t.looks[k].is_name and not t.looks[k].is_time and t.is_same(j, k))
    first = next(words, None)
    return None if first is None else f"numbers for the words of {t.looks[first].name!r}"


@rule("name", 2.5)
def _points_to_an_id(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    if plan.id in (None, j) or not look.is_whole or look.is_unique or look.n_distinct < 5 or not look.is_number:
        return None
    mine = {_number(cell) for cell in t.distinct(j)}
    keys = t.looks[plan.id]
    if not keys.is_whole or (keys.is_consecutive and not look.is_called(_PARENTS)):
        return None
    known = {_number(cell) for cell in t.distinct(plan.id)}
    return f"names of other rows, by {keys.name!r}" if mine <= known else None


_PARENTS = frozenset(("parent", "parentid", "mother", "father", "source", "target", "next", "previous", "reply"))


@rule("name", 3.5)
def _part_of_a_split(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    words = words_of(look.name)
    called = (
        look.key in SPLITS or {"train", "test"} <= words or (words & {"fold", "split", "holdout"} and len(words) < 3)
    )
    return (
        "says which part of the data a row is for (training, test, fold)" if called and look.n_distinct < 50 else None
    )


@rule("name", 3.5)
def _sum_of_the_others(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    called = words_of(look.name) & {"total", "totals", "sum", "summe", "gesamt", "insgesamt", "somme", "suma", "all"}
    others = [k for k in t.numbers if k != j and not t.looks[k].is_time] if called and look.is_number else []
    if len(others) < 2:
        return None
    rows = [[_number(row[k]) for k in (j, *others)] for row in t.rows[:200]]
    close = [abs(own - sum(rest)) <= 1e-6 * max(1.0, abs(own)) + 0.011 * len(rest) for own, *rest in rows]
    return "the total of the other columns" if sum(close) > 0.8 * len(rows) else None


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return 0.0


# ---- labels: by name


def _may_be(t: Facts, j: int) -> bool:
    """Say whether cells can be classes at all."""
    look = t.looks[j]
    plain = not (look.is_prose or look.is_media or look.is_time or look.is_hash or look.dressed)
    return plain and look.kind != "empty" and (look.kind == "text" or look.is_whole)


@rule("label", 6.0)
def _called_class(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    is_class = look.key in LABELS and not (look.key == "y" and "x" in t.keys)  # x and y are places, not a target
    is_class = is_class or (look.kind == "text" and look.is_called(LABELS))
    if (
        look.n_distinct == 1
        or (look.is_unique and look.n_seen > 9)
        or (look.is_tick and look.kind == "text" and look.key not in LABELS)
    ):
        return None
    return "its name" if is_class and _may_be(t, j) else None


@rule("label", 4.5)
def _called_truth(t: Facts, j: int, plan: Plan) -> str | None:
    return "its name" if t.looks[j].is_truth and _may_be(t, j) and t.looks[j].key not in LABELS else None


@rule("label", 3.5)
def _called_like_classes_often_are(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    few = look.is_few or (_may_be(t, j) and look.kind == "text" and 1 < look.n_distinct <= 0.15 * look.n_seen)
    fits = look.is_called(WEAK_LABELS) and few and look.key not in LABELS
    return f"its name, and its {look.n_distinct} values" if fits else None


@rule("label", -1.0)
def _kind_is_a_word_of_another_name(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = look.is_called(WEAK_LABELS) and look.key not in WEAK_LABELS | LABELS
    return "only a word of its name" if fits else None


@rule("label", -3.5)
def _one_of_many_alike(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = look.is_number and look.key not in LABELS and t.alike(j) >= FAMILY
    return "many columns are counts like this one" if fits else None


@rule("label", -2.5)
def _one_of_many_flags(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    inside = 0 < j < len(t.looks) - 1 and look.kind == "0/1" and look.key not in LABELS
    return "one of many columns of 0 and 1" if inside and t.n_flags > FAMILY else None


# ---- labels: by values


@rule("label", 1.5)
def _few_words(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = look.kind == "text" and 2 <= look.n_distinct <= max(2, look.n_seen // 2) and look.mean_length <= 40
    return f"{look.n_distinct} different words" if fits and _may_be(t, j) else None


@rule("label", 0.5)
def _very_few_words(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = look.kind == "text" and look.is_few and not look.is_tick
    return f"not more than {MOST_CLASSES}" if fits else None


@rule("label", 1.0)
def _few_whole_numbers(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    if not (look.is_number and look.is_few) or look.n_distinct > MOST_CLASSES:
        return None
    others = t.variety_without(j, plan.id, plan.bag)
    at_end = not look.has_name and j == len(t.looks) - 1
    if not others or others[len(others) // 2] <= (1.0 if at_end else 1.5) * look.n_distinct:
        return None
    counts_up = look.low in (0, 1) and look.n_distinct == int(look.high - look.low) + 1
    is_pair = look.n_distinct == 2 and (not look.has_name or (look.low, look.high) == (-1, 1))
    near = not look.has_name and look.low >= 0 and look.high <= 20
    return f"{look.n_distinct} different whole numbers, fewer than elsewhere" if counts_up or is_pair or near else None


@rule("label", 2.0)
def _last_column(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    last = len(t.looks) - 1
    while last > 0 and t.looks[last].kind == "empty":
        last -= 1
    fits = j == last and _may_be(t, j) and (_few_words(t, j, plan) or _few_whole_numbers(t, j, plan)) is not None
    return "the last column" if fits and not (len(t.looks) < 3 and look.is_number) else None


@rule("label", 1.5)
def _first_column(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    if (
        j > 2
        or set(range(j)) - {plan.id, plan.bag}
        or len(t.looks) < (2 if look.kind == "text" else 3)
        or not _may_be(t, j)
    ):
        return None
    fits = (_few_words(t, j, plan) or _few_whole_numbers(t, j, plan)) is not None
    return "the first column" if fits else None


@rule("label", 1.0)
def _no_names_at_all(t: Facts, j: int, plan: Plan) -> str | None:
    at_an_end = _last_column(t, j, plan) or _first_column(t, j, plan)
    return "columns without names" if at_an_end and t.looks[j].is_number and not t.looks[j].has_name else None


@rule("label", 0.5)
def _only_words(t: Facts, j: int, plan: Plan) -> str | None:
    plain = (k for k in t.plain_words if k not in plan.why)
    return "the only column of text" if list(islice(plain, 2)) == [j] else None


@rule("label", 3.5)
def _rows_of_a_bag_share_it(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    if plan.bag is None or plan.bag == j or not look.is_few or look.separator or not t.has_pairs(plan.bag):
        return None
    if not t.determines(plan.bag, j) or t.is_same(plan.bag, j):
        return None
    if look.kind != "text":
        free = [k for k in t.numbers if k not in plan.why and k != j]
        measured = {stem(t.looks[k].name) for k in free if t.looks[k].name != stem(t.looks[k].name)}
        apart = [k for k in free if not t.determines(plan.bag, k)]
        if not apart or (look.has_name and stem(look.name) in measured):
            return None
    return "the rows of a bag share it"


@rule("label", 4.4)
def _lists_that_rows_share(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    if not look.separator:
        return None
    lists = [k for k, o in enumerate(t.looks) if o.separator and not o.is_prose and k not in plan.why]
    fits = plan.bag is not None and lists == [j] and t.determines(plan.bag, j)
    return "lists of names that the rows of a bag share" if fits else None


# ---- labels: what speaks against


@rule("label", -3.0)
def _one_of_a_series(t: Facts, j: int, plan: Plan) -> str | None:
    name = t.looks[j].name
    near = [t.looks[k].name for k in (j - 1, j + 1) if 0 <= k < len(t.looks)]
    fits = t.looks[j].has_name and any(stem(other) == stem(name) != other for other in near) and stem(name) != name
    return "one of a series of columns" if fits and t.looks[j].is_number else None


@rule("label", -1.0)
def _yes_and_no(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = look.kind == "text" and look.is_tick and not look.is_called(LABELS | WEAK_LABELS)
    fits = fits and j != len(t.looks) - 1
    return "yes and no, as features say" if fits else None


@rule("label", -1.5)
def _too_many_words(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = look.kind == "text" and look.n_distinct > MOST_CLASSES and not look.is_called(LABELS)
    words = (k for k in t.words if k not in plan.why)
    return f"{look.n_distinct} different words" if fits and len(list(islice(words, 2))) > 1 else None


@rule("label", -3.0)
def _coordinate(t: Facts, j: int, plan: Plan) -> str | None:
    key = t.looks[j].key
    fits = key in LATITUDES or key in LONGITUDES or (key in ("x", "y", "z") and len(t.keys & {"x", "y", "z"}) > 1)
    return "a coordinate" if fits and t.looks[j].is_number else None


@rule("label", -0.5)
def _where(t: Facts, j: int, plan: Plan) -> str | None:
    return "called like a place" if t.looks[j].key in PLACES or t.looks[j].last_word in PLACES else None


@rule("label", -1.0)
def _trait_of_a_person(t: Facts, j: int, plan: Plan) -> str | None:
    return "called like a trait of a person" if t.looks[j].key in PERSONAL or t.looks[j].last_word in PERSONAL else None


@rule("label", -2.5)
def _about_the_record(t: Facts, j: int, plan: Plan) -> str | None:
    first = t.looks[j].name.partition(".")[0].lower().lstrip("_")
    return "says something about the record, not what it is" if first in ("meta", "metadata", "source") else None


@rule("label", -6.0)
def _name_of_each_row(t: Facts, j: int, plan: Plan) -> str | None:
    look = t.looks[j]
    fits = look.key not in LABELS and not look.is_called(LABELS) and look.is_number and is_code_name(look.name)
    return "called like a name of something else" if fits else None


def where(t: Facts, j: int) -> str:
    """Say of which rows a count speaks where the table may have more."""
    n = t.looks[j].n_rows
    return f"in the first {n} rows" if n >= 100 else ""


def has_codes(cells: set[str]) -> bool:
    """Say whether names are a word and a number each, with few different words: t1, t2; Probe 12."""
    stems = {stem(cell) for cell in cells}
    return all(re.search(r"\d$", cell) for cell in cells) and len(stems) <= max(1, len(cells) // 3)
