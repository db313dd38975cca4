"""From the points of the rules to one role a column: what is clearly best is taken, what is not is asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sidelight.files.roles.columns import Coded
from sidelight.files.roles.looks import Facts, Look, stem
from sidelight.files.roles.names import BAGS, IDS, LABELS, LATITUDES, LONGITUDES, PLACES, SHOWN
from sidelight.files.roles.plan import ASKED, CLEAR, LIKELY, Plan, RoleRequest
from sidelight.files.roles.rules import CLASS_SIZE, RULES, has_codes, where
from sidelight.files.roles.said import amounts_of_bags, kind_of_amounts
from sidelight.words import counted, some_of

TAKEN, POSSIBLE, LEAD = 3.5, 2.5, 1.0  # points from which on a label is taken, asked about; what it must be ahead
_NAMED = 2.5  # points of a name
_ZEROS = 0.1  # share of zeros from which on whole numbers look like sightings: most kinds are not in most places
_AT_ENDS = 6  # columns that may stand at the ends of a run and be something else: an altitude, a number of observers
_FEWEST_LISTS = 3  # different ones: fewer are determined by many a column
_PREFIX = re.compile(r"(labels?|class|classe|klasse|clase|tag|target|y|art|label)[_:.\- ].+", re.IGNORECASE)
_BOUND = re.compile(r"[<>~=≤≥]*\s*[\d.,]+")  # a measurement below what can be measured
_PARTS = re.compile(r"([A-Za-z][A-Za-z0-9 ]*?)[_.:\-](.+)")
_BY_NAME = ("called class", "called truth", "called like classes often are", "rows of a bag share it",
            "lists that rows share")  # fmt: skip


@dataclass
class Candidate:
    """Columns that may be the label together, what speaks for them, and how much of that is more than their place."""

    columns: list[int]
    points: float
    whys: list[str] = field(default_factory=list)
    named: float = 0.0


def decide(plan: Plan, t: Facts, wanted: RoleRequest) -> None:
    """Fill in the roles that are still open."""
    _ids_and_bags(plan, t, wanted)
    numbered = _numbered(plan, t, _free(plan, t), plan.bag) if wanted.label is None else []
    kept = {j for c in numbered if c.named for j in c.columns}  # a count that no two bags share is no name of bags
    for j in _free(plan, t):
        if j in kept:
            continue
        role, why = _best(plan, t, j, ("time", "name", "feature"))
        if wanted.features is None and role in ("time", "name"):
            plan.take(j, "ignored", why, LIKELY)
    if wanted.bag_label is None and plan.bag is not None:
        for j in _free(plan, t):
            if plan.bag_label is None and t.looks[j].key in ("baglabel", "baglabels"):
                plan.bag_label = j
                plan.take(j, "bag label", "its name")
    if wanted.show is None:
        _show_names_of_files(plan, t.looks)
    if wanted.label is None and plan.candidates is None:
        _label(plan, t)
        _prefer_lists(plan, t, truth_is_open=wanted.truth is None)
    if wanted.truth is None:
        _truth(plan, t)
    if wanted.show is None and not plan.show:
        _shown(plan, t)
    if plan.labels and plan.label_separator is None and len(plan.labels) == 1:
        plan.label_separator = t.looks[plan.labels[0]].separator
    _features(plan, t, explicit=wanted.features is not None or bool(plan.texts))


def review(plan: Plan, t: Facts) -> None:
    """Take times and names out of the features that a format declares: it knows types, not what they are for."""
    for j in list(plan.features):
        look = t.looks[j]
        role, why = _best(plan, t, j, ("time", "name", "feature"))
        if look.kind == "text" and look.n_distinct > max(50, look.n_seen // 2):
            role, why = "name", "words that hardly come back: names, no feature"
        if role in ("time", "name"):
            plan.features.remove(j)
            plan.said.discard(j)
            plan.take(j, "ignored", why, LIKELY)


def votes(plan: Plan, t: Facts, j: int, roles: Iterable[str]) -> dict[str, list[tuple[float, str, str]]]:
    """Return what the rules say of a column: for each role (points, sentence, name of the rule)."""
    wanted = set(roles)
    found: dict[str, list[tuple[float, str, str]]] = {}
    for rule in RULES:
        if rule.role in wanted and (says := rule.test(t, j, plan)) is not None:
            found.setdefault(rule.role, []).append((rule.points, says, rule.name))
    for role, told in found.items():
        plan.votes.setdefault(j, {})[role] = told
    return found


def _best(plan: Plan, t: Facts, j: int, roles: Sequence[str]) -> tuple[str, str]:
    """Return the role with most points, and the heaviest sentence for it."""
    found = votes(plan, t, j, roles)
    if not found:
        return "", ""
    role = max(found, key=lambda name: sum(points for points, *_ in found[name]))
    return role, max(found[role], key=lambda vote: vote[0])[1]


def _free(plan: Plan, t: Facts) -> list[int]:
    return [j for j in range(len(t.looks)) if j not in plan.why]


# ---- ids, bags, sequences


def _ids_and_bags(plan: Plan, t: Facts, wanted: RoleRequest) -> None:
    """Take the best id, bag and sequence, in this order; a column is one of them where nothing speaks louder."""
    for role, is_open in (
        ("id", wanted.id is None),
        ("bag", wanted.bag is None),
        ("sequence", wanted.sequence is None),
    ):
        best: tuple[float, int, str] | None = None
        for j in _free(plan, t) if is_open and getattr(plan, role) is None else ():
            found = votes(plan, t, j, ("id", "bag", "sequence", "time"))
            if role not in found:
                continue
            points = {name: max(vote[0] for vote in told) for name, told in found.items()}
            if max(points, key=points.__getitem__) == role and (best is None or points[role] > best[0]):
                best = points[role], j, max(found[role])[1]
        if best is not None:
            setattr(plan, role, best[1])
            plan.take(best[1], role, best[2], CLEAR if best[0] > 3 else LIKELY)
            if role == "bag" and t.looks[best[1]].name == t.bag_hint:
                _ask_records(plan, t, best[1])
        if role == "bag" and is_open and plan.bag is None:
            _bag_of_lists(plan, t)
            _bag_of_numbers(plan, t)
    if wanted.bag is None and plan.bag is None:
        _bag_by_values(plan, t, wanted)


def _ask_records(plan: Plan, t: Facts, j: int) -> None:
    name = t.looks[j].name
    plan.take(j, "bag", plan.why[j][1], ASKED)
    plan.ask(
        "The records hold lists of records, each a row here: does the record around them matter?",
        (f"the rows of a {name!r} are a bag", {"bag": name}),
        ("they are rows by themselves", {"bag": False, "ignore": [name]}),
    )


def _bag_of_lists(plan: Plan, t: Facts) -> None:
    """Take a column that determines the lists of another one for the bag."""
    lists = _lists(plan, t)
    if lists is None or t.looks[lists].n_distinct < _FEWEST_LISTS:
        return
    names = [(t.looks[j].n_distinct, j) for j in _free(plan, t) if j != lists and t.looks[j].is_name]
    for n_distinct, j in sorted(names, reverse=True):
        if t.determines(j, lists):
            plan.bag = j
            plan.take(j, "bag", f"rows that share one of its {n_distinct} values share the list in "
                                f"{plan.names[lists]!r}")  # fmt: skip
            return


def _bag_of_numbers(plan: Plan, t: Facts) -> None:
    """Take a column for the bag whose rows are as many as other columns say, or whose shares add up."""
    free = _free(plan, t) if plan.bag is None and not plan.labels else []
    for n_distinct, j in sorted(((t.looks[j].n_distinct, j) for j in free if t.looks[j].is_name), reverse=True):
        if t.looks[j].kind != "text" or not t.has_pairs(j):
            continue
        others = [k for k in free if k != j]
        apart = any(t.looks[k].is_number and not t.determines(j, k) for k in others)
        told = _numbered(plan, t, others, j) if apart else []
        if told and told[0].named:
            plan.bag = j
            names = ", ".join(plan.names[k] for k in told[0].columns[:3])
            plan.take(j, "bag", f"rows that share one of its {n_distinct} values share {names}: {told[0].whys[0]}")
            return


def _bag_by_values(plan: Plan, t: Facts, wanted: RoleRequest) -> None:
    """Take running numbers, or codes that stand together and decide a class, for the bag."""
    free = _free(plan, t)
    for j in free:
        look = t.looks[j]
        if not look.is_running or look.n_distinct < 3 or look.is_time:
            continue
        is_small = look.n_seen < CLASS_SIZE * look.n_distinct
        shares = [k for k in free if k != j and t.looks[k].is_class and t.decides(j, k)]
        crossed = [k for k in free if t.looks[k].n_distinct * look.n_distinct == t.n_rows == t.n_pairs(j, k)]
        if (not is_small and not shares) or crossed:
            continue  # sorted classes: the label looks at it; or a plan that crosses two columns
        plan.bag = j
        plan.take(j, "bag", f"running numbers: {look.n_distinct} groups of rows {where(t, j)}".strip(), LIKELY)
        if look.n_distinct < 8 and not shares and not look.is_called(BAGS | IDS):
            plan.take(j, "bag", plan.why[j][1], ASKED)
            plan.ask(
                f"Does {look.name!r} (1, 1, ..., 2, 2, ...) say which rows belong together, or what they are?",
                ("the rows of a number are a bag", {"bag": look.name}),
                ("it is the class of the row", {"bag": False, "label": look.name}),
            )
        return
    if wanted.label is not None:
        return
    names = [j for j in free if t.looks[j].kind == "text" and t.looks[j].is_name and not t.looks[j].is_tick]
    names = [j for j in names if not all(_BOUND.fullmatch(cell) for cell in t.distinct(j))]
    names = [j for j in names if not (t.looks[j].is_called(LABELS) or t.looks[j].is_time or t.looks[j].n_distinct < 3)]
    for j in sorted(names, key=lambda k: -t.looks[k].n_distinct):
        look = t.looks[j]
        coded = has_codes(t.distinct(j))
        if look.key in PLACES or look.last_word in PLACES or not (coded or look.is_sorted_run):
            continue
        told = [k for k in free if k != j and t.looks[k].is_class and t.looks[k].n_distinct < look.n_distinct]
        told = [k for k in told if t.decides(j, k) and not t.looks[k].is_called(BAGS)]
        if not told or any(t.looks[k].kind == "text" and not t.looks[k].is_tick and k not in told and k != j
                           and t.looks[k].is_called(LABELS) for k in free):  # fmt: skip
            continue
        plan.bag = j
        sure = LIKELY if look.is_sorted_run and coded else ASKED
        plan.take(j, "bag", f"rows that share one of its {look.n_distinct} values share {plan.names[told[0]]!r}", sure)
        if sure < LIKELY:
            plan.ask(
                f"Is {look.name!r} a bag (a recording, an image) whose rows share {plan.names[told[0]]!r}?",
                ("it is the bag of the row", {"bag": look.name, "label": plan.names[told[0]]}),
                ("it is not", {"bag": False}),
            )
        return


# ---- labels


def _label(plan: Plan, t: Facts) -> None:
    """Take the columns with most points, or ask which of the best are meant."""
    free = [j for j in _free(plan, t) if plan.bag_label is None or not t.looks[j].is_truth]
    candidates = [*_numbered(plan, t, free, plan.bag), *_ticks(plan, t, free), *_singles(plan, t, free)]
    others = any(c.named >= 3 and not t.looks[c.columns[0]].is_truth for c in candidates)
    for c in candidates:  # a truth is the label where there is no other
        c.points -= 4.5 if others and t.looks[c.columns[0]].is_truth else 0.0
    candidates.sort(key=lambda c: (-c.points, -c.columns[-1]))
    if not candidates or candidates[0].points < POSSIBLE:
        _amounts(plan, t, free)
        return
    best = candidates[0]
    look = t.looks[best.columns[0]]
    rivals = [c for c in candidates[1:] if not set(c.columns) & set(best.columns)]
    lead = LEAD if best.named >= 4.5 else 2 * LEAD  # a name that means many things is less sure
    near = [c for c in rivals if c.points >= best.points - lead and c.points >= POSSIBLE]
    if best.named < _NAMED:  # only its place and its values speak: any other column of words may be it
        near += [c for c in rivals if c not in near and c.points >= 2.0]
    near = [c for c in near if best.named < 6 or c.named >= 6]
    near = [c for c in near if not (len(c.columns) == 1 and t.is_same(best.columns[0], c.columns[0]))]
    has_numbers = any(t.looks[j].is_number for j in free) or len(free) > 3
    is_weak = best.points < TAKEN or (len(best.columns) > 1 and not best.named)
    many = look.is_number and best.named >= 6 and look.n_distinct > max(30, 0.2 * look.n_seen)
    asked = bool(is_weak or near or many)
    sure = ASKED if asked else CLEAR if best.named >= 4.5 else LIKELY
    plan.labels = list(best.columns)
    for j in best.columns:
        plan.take(j, "label", "; ".join(best.whys[:2]), sure)
    if many:
        plan.ask(
            f"{look.name!r} holds {look.n_distinct} different numbers: are these classes?",
            ("they are the labels", {"label": look.name}),
            ("they are amounts to leave out", {"ignore": [look.name], "label": False}),
            ("they are a feature", {"label": False}),
        )
    elif asked and has_numbers:
        _ask_label(plan, t, best, near)


def _ask_label(plan: Plan, t: Facts, best: Candidate, near: Sequence[Candidate]) -> None:
    names = [plan.names[j] for j in best.columns]
    if len(names) > 1:
        plan.ask(
            f"Are the columns {some_of(names, 3)} labels ({best.whys[0]}), or features?",
            ("they are labels", {"label": names}),
            ("they are features", {"label": False}),
        )
        return
    look = t.looks[best.columns[0]]
    others = [plan.names[c.columns[0]] for c in near if len(c.columns) == 1][:2]
    question = f"Is {look.name!r} ({best.whys[0]}) what the rows are, or one of their features?"
    if others:
        question = f"Which of {some_of([repr(name) for name in [look.name, *others]])} says what the rows are?"
    plan.ask(
        question,
        (f"{look.name!r} does" if others else "it is the label", {"label": look.name}),
        *((f"{name!r} does", {"label": name}) for name in others),
        ("it is a feature" if look.is_number and not others else "no column is", {"label": False}),
    )


def _singles(plan: Plan, t: Facts, free: Sequence[int]) -> list[Candidate]:
    found = []
    for j in free:
        told = votes(plan, t, j, ("label",)).get("label", [])
        points = sum(vote[0] for vote in told)
        named = sum(vote[0] for vote in told if vote[2] in _BY_NAME)
        if points > 0:
            spoke = sorted((vote for vote in told if vote[0] > 0 and vote[2] != "very few words"), key=lambda v: -v[0])
            whys = [says for _, says, _ in spoke]
            found.append(Candidate([j], points, whys, named))
    return found


def _ticks(plan: Plan, t: Facts, free: Sequence[int]) -> list[Candidate]:
    """Return columns of yes and no that are the label together: by their names, by bags, by their place."""
    looks = t.looks
    is_tick = {j for j in free if looks[j].kind == "0/1" or looks[j].is_tick}
    named = [j for j in free if j in is_tick and _PREFIX.fullmatch(looks[j].name)]
    if len(named) >= 2:
        return [Candidate(named, 8.0, ["its name, and every value is yes or no"], 8.0)]
    if any((looks[j].key in LABELS and not looks[j].is_truth) or (looks[j].is_called(LABELS) and looks[j].kind == "text"
           and not looks[j].is_tick) for j in free if j not in is_tick):  # fmt: skip
        return []
    if plan.bag is not None and plan.bag_label is None and t.has_pairs(plan.bag):
        bag = plan.bag
        measured = {stem(looks[j].name) for j in free if looks[j].kind == "number"}
        shared = [j for j in free if looks[j].is_tick and stem(looks[j].name) not in measured]
        shared = [j for j in shared if t.determines(bag, j) and t.is_shared(bag, j)]
        apart = [j for j in free if looks[j].kind == "number" and not t.determines(bag, j)]
        if len(shared) >= 2 and apart:
            return [Candidate(shared, 7.0, ["yes or no, and the rows of a bag share it"], 7.0)]
    block: list[int] = []
    for j in reversed(free):
        if j not in is_tick or j != len(looks) - 1 - len(block):
            break
        block.insert(0, j)
    others = [j for j in free if j not in block]
    in_series = bool(block) and block[0] > 0 and stem(looks[block[0]].name) == stem(looks[block[0] - 1].name)
    in_series = in_series and stem(looks[block[0]].name) != looks[block[0]].name
    if len(block) < 3 or len(others) < 3 or any(j in is_tick for j in others) or in_series:
        return []
    return [Candidate(block, 4.2, ["the last columns, all of yes and no"])]


def _numbered(plan: Plan, t: Facts, free: Sequence[int], bag: int | None) -> list[Candidate]:
    """Return columns of numbers, a label each, that speak of bags: counts of rows, shares, or how many were seen."""
    looks = t.looks
    if bag is None or plan.bag_label is not None or not t.has_pairs(bag):
        return []
    shared = [j for j in free if (looks[j].is_number or looks[j].dressed) and not looks[j].is_time]
    shared = [j for j in shared if looks[j].low >= 0 and t.determines(bag, j)]
    named = [j for j in shared if _PREFIX.fullmatch(looks[j].name)]
    if len(named) < 2 and any(looks[j].key in LABELS and not looks[j].is_truth for j in free if j not in shared):
        return []
    sizes = Counter(row[bag] for row in t.rows)
    whole = [name for name in sizes if name != t.rows[-1][bag]] or list(sizes)  # the last bag may go on
    place = {name: b for b, name in enumerate(whole)}
    seen = [row for row in t.rows if row[bag] in place]
    codes = np.array([place[row[bag]] for row in seen], dtype=np.intp)
    for run in [named] if len(named) > 1 else sorted(_runs(shared), key=len, reverse=True):
        found = amounts_of_bags([Coded.of(row[j] for row in seen) for j in run], codes, len(whole)) if run[1:] else None
        if found is None:
            continue
        for first, last in _parts(len(run)):
            kind = kind_of_amounts(found[0][:, first:last], [sizes[name] for name in whole])
            is_all, many = last - first == len(run), last - first > 2
            if kind == "rows" or (kind == "shares" and (many or is_all)):
                says = f"in each bag they add up to {'its rows' if kind == 'rows' else '1 or 100'}"
                strong = 9.0 if len(named) > 1 else 7.5 if many or kind == "rows" else 3.0
                return [Candidate(run[first:last], strong, [says], strong if strong > TAKEN else 0.0)]
        kind = kind_of_amounts(found[0], None)
        if kind in ("present", "ticks") and len(named) > 1:
            return [Candidate(run, 9.0, ["its name, and the rows of a bag share it"], 9.0)]
        if kind == "present" and len(run) > 2 and np.mean(found[0] == 0) > _ZEROS:
            return [Candidate(run, 6.0, ["how many were seen, and the rows of a bag share it"])]
    return []


def _runs(columns: Sequence[int]) -> list[list[int]]:
    """Return columns that stand side by side."""
    runs: list[list[int]] = []
    for j in columns:
        if runs and runs[-1][-1] == j - 1:
            runs[-1].append(j)
        else:
            runs.append([j])
    return runs


def _parts(n: int) -> list[tuple[int, int]]:
    """Return the parts of a run, the longest first; of a long one only those without a few columns at its ends."""
    parts = [(first, last) for first in range(n) for last in range(first + 2, n + 1) if n - (last - first) <= _AT_ENDS]
    return sorted(parts, key=lambda part: part[0] - part[1])


def _amounts(plan: Plan, t: Facts, free: Sequence[int]) -> None:
    """Leave out amounts that are called like the answer, and ask about them."""
    has_x = any(look.key == "x" for look in t.looks)
    named = [j for j in free if t.looks[j].key in LABELS and not (t.looks[j].key == "y" and has_x)]
    named += [j for j in free if re.fullmatch(r"(y|target|output)_?\d", t.looks[j].name, re.IGNORECASE)]
    amounts = [j for j in dict.fromkeys(named) if t.looks[j].is_number and not t.looks[j].is_whole]
    for j in amounts:
        plan.take(j, "ignored", "called like the answer, and holds amounts: no feature", ASKED)
    if amounts:
        names = [plan.names[j] for j in amounts]
        plan.ask(
            f"{some_of([repr(n) for n in names])}: the amounts that are to be explained, or features?",
            ("leave them out", {"ignore": names}),
            ("they are features", {"label": False}),
        )


def _lists(plan: Plan, t: Facts) -> int | None:
    """Return the column of lists: the label or the bag's label when it is one, else the only one that is free."""
    told = [j for j in (plan.bag_label, *plan.labels) if j is not None and t.looks[j].separator]
    free = [j for j in _free(plan, t) if t.looks[j].separator]
    return told[0] if told else free[0] if len(free) == 1 else None


def _prefer_lists(plan: Plan, t: Facts, *, truth_is_open: bool) -> None:
    """Take lists that the rows of a bag share for the labels; a label that they do not share is the truth of rows."""
    lists = _lists(plan, t) if plan.bag_label is None else None
    if lists is None or plan.bag is None or len(plan.labels) > 1 or not t.determines(plan.bag, lists):
        return
    label = plan.labels[0] if plan.labels else None
    if label == lists or (label is not None and (t.looks[label].separator or t.determines(plan.bag, label))):
        return
    plan.labels = [lists]
    plan.take(lists, "label", "lists of names that the rows of a bag share")
    if label is not None:
        plan.truth = label if truth_is_open else plan.truth
        beside = f"a name a row, beside the lists in {plan.names[lists]!r}"
        plan.take(label, "truth" if truth_is_open else "ignored", beside)


def _truth(plan: Plan, t: Facts) -> None:
    """Find the truth of rows beside labels: by its name, or because it holds the names of the lists, one a row."""
    if plan.truth is not None or not (plan.labels or plan.bag_label is not None):
        return
    lists = _lists(plan, t)
    free = [j for j in _free(plan, t) if t.looks[j].is_name]
    for j in free:
        if t.looks[j].is_truth:
            plan.truth = j
            plan.take(j, "truth", "its name")
            return
    if lists is None or plan.bag is None:
        return
    mark = t.looks[lists].separator
    members = {part.strip() for cell in t.cells(lists) for part in (cell.split(mark) if mark else [cell])}
    for j in free:
        if t.distinct(j) <= members and not t.determines(plan.bag, j):
            plan.truth = j
            plan.take(j, "truth", f"its {t.looks[j].n_distinct} names are those of the lists, one a row")
            return


# ---- the rest: what is shown, features, what is left lying


def _show_names_of_files(plan: Plan, looks: Sequence[Look]) -> None:
    """Show the files that name rows or bags: a column may be both."""
    for j in (plan.id, plan.bag):
        if j is not None and looks[j].is_media and not plan.show:
            plan.show = [j]
            role, why = plan.why[j]
            plan.take(j, role, f"{why}; the files are shown", plan.sure.get(j, LIKELY))


def _shown(plan: Plan, t: Facts) -> None:
    words = [j for j in _free(plan, t) if t.looks[j].kind == "text"]
    media = [(j, "its cells are names of files to show") for j in words if t.looks[j].is_media]
    prose = "texts; name it as the text to make features of its words"
    called = [(j, prose if t.looks[j].is_prose else "its name") for j in words
              if t.looks[j].is_prose or t.looks[j].is_called(SHOWN)]  # fmt: skip
    for j, why in (media or called)[:1]:
        plan.show = [j]
        plan.take(j, "show", why)


def _features(plan: Plan, t: Facts, *, explicit: bool) -> None:
    """Take numbers for features; where there are none, words that come back; say what is left lying, and why."""
    other = [j for j in _free(plan, t) if (t.looks[j].kind == "0/1" or t.looks[j].is_tick) and not explicit]
    other = [j for j in other if _PREFIX.fullmatch(t.looks[j].name) and not plan.channels]
    for j in other if len(other) > 1 else ():
        plan.take(j, "ignored", "called like labels, yes or no, beside the labels that were taken: no feature")
    free = _free(plan, t)
    measured = [j for j in free if t.looks[j].is_number]
    words = [j for j in free if t.looks[j].kind == "text" and t.looks[j].is_few and not t.looks[j].separator]
    of_words = not explicit and not measured and len(words) >= 3 and plan.labels != []
    for j in free:
        look = t.looks[j]
        if explicit or plan.channels:
            plan.take(j, "ignored", "not among the features you named")
        elif look.is_number:
            plan.features.append(j)
            plan.take(j, "feature", _numbers_of(look))
        elif look.is_tick:
            plan.features.append(j)
            plan.take(j, "feature", "yes and no")
        elif of_words and j in words:
            plan.features.append(j)
            plan.take(j, "feature", "words that come back, and no column holds numbers", LIKELY)
        elif look.kind == "empty":
            plan.take(j, "ignored", "empty in the first rows")
        elif look.dressed:
            plan.take(j, "ignored", f"numbers written as {look.dressed!r}; write them plainly to use them as a feature")
        elif look.odd:
            plan.take(j, "ignored", f"numbers and words mixed, such as {look.odd[:30]!r}; correct it to use it")
        elif look.is_prose:
            plan.take(j, "ignored", "texts; name it as the text to make features of its words")
        else:
            told = f"text with {counted(look.n_distinct, 'value')} {where(t, j)}".strip()
            plan.take(j, "ignored", f"{told}; it may be a bag, a label or shown")


def _numbers_of(look: Look) -> str:
    is_latitude = look.key in LATITUDES and look.low >= -90 and look.high <= 90
    is_longitude = look.key in LONGITUDES and look.low >= -180 and look.high <= 360
    return (
        "coordinates: where a row was; leave them out if that is not what counts"
        if is_latitude or is_longitude
        else "numbers"
    )


def guess_channels(names: Sequence[str]) -> dict[str, list[str]] | None:
    """Return channel -> columns when every column has one of 2 to 20 prefixes, with two columns each on average."""
    groups: dict[str, list[str]] = {}
    for name in names:
        match = _PARTS.fullmatch(name)
        if match is None:
            return None
        groups.setdefault(match.group(1), []).append(name)
    enough = 2 <= len(groups) <= 20 and len(names) >= 2 * len(groups)
    return groups if enough else None


def why_lines(plan: Plan, j: int) -> list[str]:
    """Return what spoke about a column: role, points and the sentence of each rule, and what was decided."""
    told: dict[str, Any] = plan.votes.get(j, {})
    lines = [
        f"{role} {points:+.1f}: {says} ({name})"
        for role, found in sorted(told.items(), key=lambda item: -sum(vote[0] for vote in item[1]))
        for points, says, name in sorted(found, reverse=True)
    ]
    role, why = plan.why.get(j, ("ignored", "not asked for"))
    return [*lines, f"taken for {role}: {why}"]
