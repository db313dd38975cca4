"""What a table may be as a whole: events, answers of annotators, a label track, distances; each reading has points.

Readings compete with the plain one (rows with features) before columns are looked at one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from sidelight.files.roles.cells import is_gap
from sidelight.files.roles.looks import Facts, Look
from sidelight.files.roles.names import (
    ANSWERS,
    BOXES,
    COUNTS,
    ENDS,
    ITEMS,
    LABELS,
    SHOWN,
    STARTS,
    WORKERS,
    word_list,
)
from sidelight.files.roles.plan import Plan

_ALIKE = 0.15  # how much more than by chance answers about the same thing must agree
_MOST_ANSWERS = 12
_EVENTS, _ANSWERED = 4.0, 4.0  # points of an event table without further evidence; from which on answers are taken
_ROWS = 3.0  # points of the plain reading
_FEW_NAMES = 10  # a column of so many names or fewer is rather a property of an event than who or what took part


@dataclass
class Reading:
    """One way to read a table: its kind, its points, the roles of its columns, and a sentence."""

    kind: str
    points: float
    why: str
    roles: dict[int, tuple[str, str]] = field(default_factory=dict)
    events: list[int] = field(default_factory=list)
    weight: int | None = None
    item_and_label: bool = False
    settled_by: dict[str, Any] = field(default_factory=dict)  # of one that is asked about: what says that it is so


def best_reading(plan: Plan, t: Facts) -> Reading | None:
    """Return the reading with most points where it is no table of rows; None for rows with features."""
    found = [
        reading
        for way in (
            _track,
            _boxes,
            _pairs,
            _placements,
            _annotations,
            _annotators,
            _triplets,
            _distances,
            _crossed,
            _events,
            _log,
        )
        if (reading := way(plan, t)) is not None
    ]
    best = max(found, key=lambda reading: reading.points, default=None)
    return best if best is not None and best.points > _ROWS else None


def take(plan: Plan, t: Facts, reading: Reading) -> None:
    """Give the columns the roles of a reading."""
    plan.kind, plan.kind_why = reading.kind, reading.why
    for j, (role, why) in reading.roles.items():
        plan.take(j, role, why)
    if reading.events:
        plan.events, plan.weight, plan.item_and_label = reading.events, reading.weight, reading.item_and_label
        return
    for j in range(len(t.looks)):
        if j not in plan.why:
            plan.take(j, "ignored", f"not needed: {reading.why}")


# ---- label tracks: times or corners beside a name


def _word(look: Look, known: frozenset[str]) -> bool:
    words = [w for w in word_list(look.name) if w not in ("time", "sec", "seconds", "second", "ms", "frame", "sample")]
    return look.key in known or bool(words and len(words) < 4 and (words[0] in known or words[-1] in known))


def _track(plan: Plan, t: Facts) -> Reading | None:
    """Times with a name: start and end that are called so, or two first columns of rising numbers and a word."""
    looks = t.looks
    starts = [j for j in t.numbers if _word(looks[j], STARTS) and not _word(looks[j], ENDS)]
    ends = [j for j in t.numbers if _word(looks[j], ENDS)]
    names = [j for j, look in enumerate(looks) if look.kind == "text" and not look.is_media and not look.is_time]
    names += [j for j in t.numbers if looks[j].key in LABELS and looks[j].is_few]
    pairs = [(a, b) for a in starts[:2] for b in ends[:3] if _is_span(t, a, b)]
    points = 0.0
    if pairs and (looks[pairs[0][0]].has_name or t.declared == "label track"):
        points = 6.0
    elif (t.declared or not any(look.has_name for look in looks)) and 3 <= len(looks) <= 9 and names:
        pairs = [(a, b) for a, b in pairwise(t.numbers[:3]) if _is_span(t, a, b)]
        points = 4.5 if pairs and len(t.numbers) <= 4 and _are_pieces(t, *pairs[0]) else 0.0
    if not points and not any(look.has_name for look in looks) and names:
        pairs = [(a, b) for a, b in pairwise(t.numbers[:3]) if _lasts(t, a, b)]
        points = 4.5 if pairs else 0.0
    others = [j for j in t.numbers if pairs and j not in pairs[0] and not looks[j].is_whole]
    points += (0.5 if names else -3.0) - (0.0 if len(others) <= 4 else 4.0)
    if not pairs or points <= 0:
        return None
    a, b = pairs[0]
    roles = {a: ("start", "where each piece begins"), b: ("end", "where it ends")}
    called = [j for j in names if looks[j].key in LABELS or looks[j].is_called(LABELS)]
    plain = [j for j in names if looks[j].n_distinct < looks[j].n_seen and not looks[j].is_called(SHOWN - {"name"})]
    for j in (called or plain[::-1] or names[::-1])[:1]:
        roles[j] = ("label", "what was marked there")
    return Reading("label track", points, "a label track (times with names), no rows with features", roles)


def _is_span(t: Facts, a: int, b: int) -> bool:
    """Say whether one column begins what the other ends: never later, mostly in order, never negative."""
    one, other = t.looks[a], t.looks[b]
    few = one.n_distinct <= min(3, one.n_seen - 1) and t.declared != "label track"
    if one.low < 0 or other.high <= one.low or few:
        return False
    cells = [(row[a], row[b]) for row in t.rows if not (is_gap(row[a]) or is_gap(row[b]))]
    try:
        spans = [(float(x), float(y)) for x, y in cells]
    except ValueError:
        spans = [(float(x), float(y)) for x, y in cells if _plain(x) and _plain(y)]
    lasts = sum(x <= y for x, y in spans) > 0.98 * len(spans) > 0
    rises = sum(x <= y for (x, _), (y, _) in pairwise(spans))
    called = _word(other, frozenset(("duration", "dauer", "duree")))
    return (lasts or called) and (rises >= 0.7 * (len(spans) - 1) or t.declared == "label track")


def _lasts(t: Facts, a: int, b: int) -> bool:
    """Say whether one column rises and the other says how long each piece lasts: until the next, more or less."""
    spans = [(float(r[a]), float(r[b])) for r in t.rows if _plain(r[a]) and _plain(r[b])]
    if len(spans) < max(5, 0.9 * t.n_rows) or (t.looks[a].is_whole and t.looks[b].is_whole):
        return False
    steps = [y - x for (x, _), (y, _) in pairwise(spans)]
    shares = sorted(length / step for (_, length), step in zip(spans, steps) if step > 0)
    rises = sum(step >= 0 for step in steps) > 0.9 * len(steps)
    return rises and bool(shares) and min(y for _, y in spans) >= 0 and 0.15 <= shares[len(shares) // 2] <= 1.5


def _plain(cell: str) -> bool:
    return cell.replace(".", "", 1).isdigit()


def _are_pieces(t: Facts, a: int, b: int) -> bool:
    """Say whether columns without names are spans of time: short ones, in a long recording, and no small counts."""
    one, other = t.looks[a], t.looks[b]
    if one.is_whole and other.is_whole and other.high < 50:
        return False
    spans = [(float(r[a]), float(r[b])) for r in t.rows if _plain(r[a]) and _plain(r[b])]
    lengths = sorted(y - x for x, y in spans)
    whole = max((y for _, y in spans), default=0.0) - min((x for x, _ in spans), default=0.0)
    return bool(lengths) and (len(lengths) < 4 or lengths[len(lengths) // 2] < 0.15 * whole)


def _boxes(plan: Plan, t: Facts) -> Reading | None:
    """Corners with a name."""
    by_key = {look.key: j for j, look in enumerate(t.looks)}
    corners = next((box for box in BOXES if box <= by_key.keys()), None)
    if corners is None or not all(t.looks[by_key[key]].is_number for key in corners):
        return None
    names = [j for j, look in enumerate(t.looks) if look.key in LABELS or look.is_called(LABELS) or look.key == "name"]
    names = [j for j in names if t.looks[j].key not in corners]
    files = [
        j for j, look in enumerate(t.looks) if look.is_media or look.key in ("imageid", "image", "filename", "file")
    ]
    others = [j for j in t.numbers if t.looks[j].key not in corners and j not in names + files]
    if not (names or files) or len(others) > 6:
        return None
    roles = {by_key[key]: ("start" if k < 2 else "end", "a corner of a box") for k, key in enumerate(sorted(corners))}
    roles |= dict.fromkeys(names[:1], ("label", "what the box holds"))
    points = 3.5 + 1.5 * bool(names) + 1.5 * bool(files)
    return Reading("label track", points, "boxes with names in pictures (a label track), no rows with features", roles)


# ---- answers of several people about the same things


def agreement(t: Facts, item: int, answer: int) -> float:
    """Return how much answers about the same thing agree, beyond chance: 1 always, 0 as by chance."""
    told: dict[str, Counter[str]] = {}
    every: Counter[str] = Counter()
    for row in t.rows:
        if not (is_gap(row[item]) or is_gap(row[answer])):
            told.setdefault(row[item], Counter())[row[answer]] += 1
            every[row[answer]] += 1
    n = sum(every.values())
    pairs = sum(c.total() * (c.total() - 1) for c in told.values())
    if not pairs or n < 2:
        return 0.0
    same = sum(k * (k - 1) for c in told.values() for k in c.values()) / pairs
    chance = sum((k / n) ** 2 for k in every.values())
    return (same - chance) / (1 - chance) if chance < 1 else 0.0


def _annotations(plan: Plan, t: Facts) -> Reading | None:
    """Worker, item, answer: each thing is answered by several, each person answers several things, answers are few."""
    looks = t.looks
    measures = [j for j in t.numbers if not looks[j].is_whole and not looks[j].is_time]
    if t.n_rows < 6 or len(looks) > 40 or len(measures) > 1:
        return None
    named = [j for j, look in enumerate(looks) if look.is_called(WORKERS)]
    comes_back = [j for j, look in enumerate(looks) if 1 < look.n_distinct < look.n_seen and look.is_full
                  and (look.kind == "text" or look.is_whole) and not look.is_time and not look.separator]  # fmt: skip
    answers = [j for j in comes_back if looks[j].n_distinct <= _MOST_ANSWERS and looks[j].mean_length <= 40]
    if not answers or len(comes_back) < 3 or (not named and len(looks) > 5):
        return None
    ratings = any(look.is_called(frozenset(("rating", "stars", "movie", "movieid"))) for look in looks)
    best: tuple[float, int, int, int] | None = None
    for who in named or comes_back:
        for what in comes_back:
            if what == who or looks[what].n_distinct < 3 or looks[who].n_distinct < 2:
                continue
            times = Counter((row[who], row[what]) for row in t.rows)
            several = looks[what].n_seen / looks[what].n_distinct
            if len(times) < 0.85 * t.n_rows or several < 1.5 or looks[who].n_seen < 2 * looks[who].n_distinct:
                continue
            for answer in answers:
                few = 2 * looks[answer].n_distinct <= min(looks[what].n_distinct, max(looks[who].n_distinct, 6))
                if answer in (who, what) or not (few or looks[answer].is_called(ANSWERS)):
                    continue
                beyond = agreement(t, what, answer)
                rival = agreement(t, who, answer)
                points = min(beyond, 0.6) * 4 + 2.0 * (beyond > rival) + 1.0 * looks[answer].is_called(ANSWERS)
                points += 3.5 * (who in named) + 1.0 * looks[what].is_called(ITEMS)
                points -= 3.0 * (ratings or bool(t.has_times and not named)) + 2.0 * (beyond < _ALIKE)
                if best is None or points > best[0]:
                    best = points, who, what, answer
    if best is None or best[0] < 3.0:
        return None
    points, who, what, answer = best
    roles = {
        who: ("annotator", f"{looks[who].n_distinct} people, each with several answers"),
        what: ("item", f"{looks[what].n_distinct} things, each answered by several people"),
        answer: (
            "answer",
            f"{looks[answer].n_distinct} answers that agree {agreement(t, what, answer):.0%} beyond chance",
        ),
    }
    return Reading("annotations", 0.8 + points, "answers of annotators: person, thing, answer", roles)


def _annotators(plan: Plan, t: Facts) -> Reading | None:
    """One column a person: called so, with the same few answers."""
    people = [j for j, look in enumerate(t.looks) if look.is_called(WORKERS) and look.is_few]
    if len(people) < 2 or any(t.looks[j].is_number and not t.looks[j].is_whole for j in range(len(t.looks))):
        return None
    every = [t.distinct(j) for j in people]
    shared = set.intersection(*every)
    others = [j for j in t.numbers if j not in people and not t.looks[j].is_unique]
    if 2 * len(shared) < max(map(len, every)) or len(others) > len(people):
        return None
    roles = dict.fromkeys(people, ("annotator", "the answers of one person, a column each"))
    return Reading("annotations", 6.0, "answers of annotators, one column a person", roles)


_SAME = frozenset((
    "same", "answer", "match", "matches", "mustlink", "link", "linked", "similar", "different", "duplicate",
    "isduplicate", "equal", "relation", "verdict", "gleich", "identique", "iguals", "label", "judgment",
))  # fmt: skip


def _pairs(plan: Plan, t: Facts) -> Reading | None:
    """Two columns that name the same things, and whether they are alike."""
    looks = t.looks
    columns = [j for j in range(len(looks)) if not _names_rows(looks, j)]
    if len(columns) != 3 or t.n_rows < 4 or not looks[columns[2]].is_tick or looks[columns[2]].key not in _SAME:
        return None
    a, b = (t.distinct(j) for j in columns[:2])
    named = all(looks[j].kind == "text" or looks[j].is_whole for j in columns[:2])
    if not named or len(a & b) < 0.3 * min(len(a), len(b)) or any(row[columns[0]] == row[columns[1]] for row in t.rows):
        return None
    roles = dict.fromkeys(columns[:2], ("row", "a row of another table"))
    roles[columns[2]] = ("answer", "whether the two are alike")
    return Reading("pair answers", 6.0, "answers about pairs of rows of another table", roles)


_PILES = frozenset(("pile", "piles", "stapel", "pila"))
_BESIDE = frozenset(("person", "seconds", "screen", "time", "at"))  # what stands beside a placement


def _placements(plan: Plan, t: Facts) -> Reading | None:
    """A row and the pile that somebody put it on; who did and how long it took may stand beside it."""
    looks = t.looks
    piles = [j for j, look in enumerate(looks) if look.key in _PILES]
    rows = [j for j, look in enumerate(looks) if j not in piles and look.key not in _BESIDE]
    if len(piles) != 1 or len(rows) != 1 or not (looks[rows[0]].kind == "text" or looks[rows[0]].is_whole):
        return None
    roles = {rows[0]: ("row", "a row of another table"), piles[0]: ("answer", "the pile that it was put on")}
    return Reading("placements", 8.0, "rows of another table that somebody sorted onto piles", roles)


# ---- counts and distances


def _triplets(plan: Plan, t: Facts) -> Reading | None:
    """Row number, column number, value: a sparse table of counts without names."""
    looks = t.looks
    if len(looks) != 3 or not all(look.is_number and look.is_full for look in looks) or t.n_rows < 20:
        return None
    i, j, value = looks
    if (
        not (i.is_whole and j.is_whole)
        or i.low < 0
        or j.low < 0
        or value.low < 0
        or (i.has_name and not _is_index(looks))
    ):
        return None
    different = len({(row[0], row[1]) for row in t.rows})
    sorted_ = i.is_sorted_run or j.is_sorted_run or i.is_rising or j.is_rising
    body = t.rows[1:]
    sorted_ = sorted_ or any(all(float(a[k]) <= float(b[k]) for a, b in pairwise(body)) for k in (0, 1))
    both = all(2 * look.n_distinct <= look.n_seen or look.n_distinct > 12 for look in (i, j))
    if different < t.n_rows or not sorted_ or not both or i.n_distinct == t.n_rows or not value.is_whole:
        return None
    roles = {0: ("event", "the number of a row"), 1: ("event", "the number of a column"), 2: ("weight", "how often")}
    agree = value.n_distinct <= 6 and max(agreement(t, 0, 2), agreement(t, 1, 2)) > 0.3
    return Reading("counts", 3.5 if agree else 5.0, "row, column, count: a sparse table", roles, [0, 1], 2)


def _is_index(looks: Sequence[Look]) -> bool:
    return {look.key for look in looks[:2]} <= {"i", "j", "row", "col", "column", "rowid", "colid", "x", "y", "docid",
                                                "wordid", "doc", "word", "term", "termid"}  # fmt: skip


def _distances(plan: Plan, t: Facts) -> Reading | None:
    """A symmetric table with zeros on its diagonal and nowhere else."""
    n = t.n_rows
    if n < 3 or len(t.numbers) < min(n, 3) or n > 1000:
        return None
    columns = t.numbers[-n:]
    if len(columns) != n or len(t.looks) - len(columns) > 1:
        return None
    try:
        cells = [[float(row[j]) for j in columns] for row in t.rows]
    except ValueError:
        return None
    zero = all(cells[k][k] == 0 for k in range(n)) and sum(c == 0 for row in cells for c in row) < 2 * n
    same = all(abs(cells[a][b] - cells[b][a]) <= 1e-6 * max(1.0, cells[a][b]) for a in range(n) for b in range(a))
    if not zero or not same or min(map(min, cells)) < 0:
        return None
    why = "distances between its rows (a symmetric table with zeros on its diagonal)"
    return Reading("distances", 7.0, why, settled_by={"format": "distances"})


# ---- events


def _events(plan: Plan, t: Facts) -> Reading | None:
    """Two columns of names that come back, maybe with a count, a time and a truth."""
    looks = t.looks
    weight = [j for j, look in enumerate(looks) if look.key in COUNTS and look.is_number]
    truth = [j for j, look in enumerate(looks) if j == plan.truth or look.is_truth]
    times = [j for j, look in enumerate(looks) if look.is_time and j not in weight]
    axes = [j for j in range(len(looks)) if j not in (*weight, *truth, *times) and not _names_rows(looks, j)]
    grades = [j for j in axes if looks[j].is_whole and looks[j].n_distinct <= 10 and looks[j].high <= 10]
    grades = [j for j in grades if not looks[j].key.endswith("id")]
    if times and len(axes) == 3 and len(grades) == 1:
        axes = [j for j in axes if j not in grades]
    else:
        grades = []
    if len(axes) != 2 or len(weight) > 1 or len(truth) > 1:
        return None
    a, b = (looks[j] for j in axes)
    links = {a.key, b.key} in ({"source", "target"}, {"from", "to"}, {"src", "dst"}, {"head", "tail"})
    is_id = [look.is_whole and (look.key.endswith("id") or links or (bool(times) and look.n_distinct > 10))
             for look in (a, b)]  # fmt: skip
    names = all(look.kind == "text" or whole for look, whole in zip((a, b), is_id))
    short = a.mean_length <= 40 and b.mean_length <= 40 and not a.is_media and not b.is_media
    if not names or not short or a.separator or b.separator or a.n_seen < 4:
        return None
    if not links and (a.is_unique or (b.is_unique and b.n_seen > 10)):
        return None
    item_and_label = b.key in LABELS and not weight and not times and not links
    what = "names that come back beside those of "
    roles = {axes[0]: ("event", what + repr(b.name)), axes[1]: ("event", what + repr(a.name))}
    if item_and_label:
        roles[axes[0]] = ("id", "the item of a long table of (item, label)")
        roles[axes[1]] = ("label", f"called {b.name!r}, beside an item that comes back")
    roles |= dict.fromkeys(weight, ("weight", "what each row counts for: its name"))
    roles |= dict.fromkeys(times, ("ignored", "times: when an event was, not what"))
    roles |= dict.fromkeys(grades, ("ignored", "grades of events; name it as the weight to count by them"))
    kind = "label sets" if item_and_label else "counts" if weight else "events"
    return Reading(kind, _EVENTS, "things that occur together", roles, axes, next(iter(weight), None), item_and_label)


def _log(plan: Plan, t: Facts) -> Reading | None:
    """A time, two columns of many names that come back beside each other, and one or two numbers about the event."""
    looks = t.looks
    times = [j for j, look in enumerate(looks) if look.is_time]
    numbers = [j for j in t.numbers if j not in times and not looks[j].key.endswith("id")]
    names = [
        j
        for j, look in enumerate(looks)
        if j not in (*times, *numbers)
        and (look.kind == "text" or look.is_whole)
        and look.n_distinct > _FEW_NAMES
        and not (look.is_unique or look.is_media or look.separator or look.is_truth)
        and look.mean_length <= 40
    ]
    if not times or len(names) != 2 or not 1 <= len(numbers) <= 2 or plan.truth is not None:
        return None
    a, b = names
    if t.determines(a, b) or t.determines(b, a):
        return None  # one name is about the other: rows with properties
    what = "names that come back beside those of "
    roles = {a: ("event", what + repr(looks[b].name)), b: ("event", what + repr(looks[a].name))}
    roles |= dict.fromkeys(times, ("ignored", "times: when an event was, not what"))
    roles |= {j: ("ignored", "a property of events") for j in range(len(looks)) if j not in roles}
    why = f"a log of events ({looks[a].name} and {looks[b].name} together)"
    return Reading("events", 3.5, why, roles, names, settled_by={"events": [looks[a].name, looks[b].name]})


def _names_rows(looks: Sequence[Look], j: int) -> bool:
    """Say whether a column only numbers or names the rows, as data frames write it: the first, without a name."""
    return j == 0 and len(looks) > 2 and not looks[0].has_name and looks[0].is_unique and looks[1].has_name


def _crossed(plan: Plan, t: Facts) -> Reading | None:
    """Columns of a few names each, crossed, and how many there are of each combination."""
    looks = t.looks
    weight = [j for j in t.numbers if looks[j].key in COUNTS and looks[j].is_whole and looks[j].low >= 0]
    times = [j for j, look in enumerate(looks) if look.is_time]
    axes = [j for j in range(len(looks)) if j not in weight and j not in times and not _names_rows(looks, j)]
    if len(weight) != 1 or not 2 <= len(axes) <= 6 or t.n_rows < 4 or looks[weight[0]].n_distinct < 3:
        return None
    if not all(looks[j].is_few and 3 * looks[j].n_distinct <= t.n_rows and looks[j].is_full for j in axes):
        return None
    if len({tuple(row[j] for j in (*axes, *times)) for row in t.rows}) < t.n_rows:
        return None  # a combination comes back: rows
    n_cells = 1
    for j in (*axes, *times):
        n_cells *= looks[j].n_distinct
    if t.n_rows < 0.3 * min(n_cells, 1000):
        return None
    roles = {j: ("event", f"{looks[j].n_distinct} values, crossed with the others") for j in axes}
    roles |= dict.fromkeys(times, ("ignored", "times: when it was counted"))
    roles |= {weight[0]: ("weight", "how many there are of each combination: its name")}
    return Reading("counts", 4.5, "counts of combinations", roles, axes, weight[0])
