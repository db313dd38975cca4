"""How right rows are that are said to be sure: sentences and a diagram, from lists that were held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sidelight.app.report.components import lines, percent
from sidelight.app.report.page import Section
from sidelight.data.bags import Bags
from sidelight.words import Sentence, counted, present, some_of

Calibration = Mapping[str, Any]

_SURE = 0.9  # what is called sure everywhere
_FEWEST_ROWS = 10  # held-out rows from which a share is worth a word
_OFTEN = 0.8  # of the lists with one label also have the other, both ways: lists nearly never tell them apart
_FEWEST_LISTS = 5  # with both
_TAKEN = 0.1  # share of the rows of a kind whose loss is worth a word


def sure_and_right(known: Calibration | None) -> list[Sentence]:
    """Say how many rows that are called sure are right, and how many new rows will be; or why nobody knows."""
    if known is None:
        return []
    if not known["n_rows"]:
        why = f": {known['note']}" if known["note"] else ""
        return [f"How sure rows are is the fit's own opinion, which is usually too high{why}."]
    table = known["reliability"]
    said, right, n_rows = (np.asarray(table[name]) for name in ("said", "right", "rows"))
    sure = said > _SURE
    n_sure = int(n_rows[sure].sum())
    of_sure = float(np.average(right[sure], weights=n_rows[sure])) if n_sure else 0.0
    return present(
        f"Of {counted(n_sure, 'row')} of held-out bags that were called more than {percent(_SURE)} sure by their "
        f"features alone, about {percent(of_sure)} are right."
        if n_sure >= _FEWEST_ROWS
        else "Hardly any row of a held-out bag is sure of its name by its features alone.",
        None
        if np.isnan(known["right"])
        else f"About {percent(known['right'])} of new rows will be named right by their features alone, as far as "
        "held-out lists can tell.",
        f"Lists seem to forget about {percent(known['forgotten'])} of what is there." if known["forgotten"] else None,
    )


def reliability_section(known: Calibration | None) -> list[Section]:
    """Draw how many rows are right over how sure they are called, by held-out lists."""
    if known is None or sum(known["reliability"]["rows"]) < _FEWEST_ROWS:
        return []
    n_rows, n_bags = sum(np.asarray(known["reliability"]["rows"]).tolist()), known["n_bags"]
    caption = (
        f"How right rows are, over how sure they are called: {counted(n_rows, 'row')} of {counted(n_bags, 'bag')} "
        "whose lists were held out, by their features alone."
    )
    told = "Nobody named a row: a wrong name is in a list by chance, so names beside their list say how many are wrong."
    return [_diagram(known["reliability"], caption, told, "row")]


def pairs_section(known: Calibration | None) -> list[Section]:
    """Draw how many pairs are right over how sure they are called the same or different, by held-out answers."""
    if known is None or known.get("n_answers", 0) < _FEWEST_ROWS:
        return []
    caption = (
        f"How right pairs are, over how sure they are called the same or different: {known['n_answers']} answers about "
        "pairs that were held out, by the features of their rows alone."
    )
    return [_diagram(known["reliability"], caption, "Right is what people answered.", "pair")]


def _diagram(table: Mapping[str, Any], caption: str, how: str, what: str) -> Section:
    said, right, n_rows = (np.asarray(table[name]).tolist() for name in ("said", "right", "rows"))
    place = int(np.argmax(n_rows))
    alt = (
        f"Of {counted(n_rows[place], what)} that were called {percent(said[place])} sure, about "
        f"{percent(right[place])} are right."
    )
    drawn = lines(
        [round(value, 3) for value in said], {"about so many are right": right, "as right as sure": said}, caption,
        alt=alt, x_title="called so sure", y_title="right", is_share=True,
        errors=[float(np.sqrt(max(p * (1 - p), 0.01) / n)) for p, n in zip(right, n_rows)],
    )  # fmt: skip
    told = f"{alt} {how} The dashed line is where they are as right as they are sure."
    return Section("As right as sure?", [told], [drawn])


def nearly_together(bags: Bags) -> list[tuple[str, str]]:
    """Return pairs of labels that most lists with one of them share, but not all: these are told by the fit."""
    if bags.counts_rows:  # numbers tell apart what always comes together
        return []
    Y = bags.label_matrix.astype(float)
    both = (Y.T @ Y).toarray()
    own = np.maximum(np.diag(both), 1.0)
    share = np.minimum(both / own[:, None], both / own[None, :])
    found = np.argwhere(np.triu((share >= _OFTEN) & (share < 1.0) & (both >= _FEWEST_LISTS), 1))
    order = np.argsort([-share[i, j] for i, j in found], kind="stable")
    return [(str(bags.classes[found[k][0]]), str(bags.classes[found[k][1]])) for k in order]


def about_pairs(pairs: Sequence[tuple[str, str]]) -> Sentence | None:
    """Say which labels lists cannot tell apart well."""
    if not pairs:
        return None
    names = some_of([f"{a!r} and {b!r}" for a, b in pairs], 3)
    return (
        f"{names} are nearly always on the same lists: rows of one that are called the other are in their list all "
        "the same, so that no list shows them, and they are less sure than is said."
    )


def most_taken(names: Sequence[Any], shares: Sequence[float]) -> list[tuple[str, float]]:
    """Return the labels of which novel clusters take a tenth of the held-out rows or more, the most first."""
    found = [(str(name), float(share)) for name, share in zip(names, shares) if share >= _TAKEN]
    return sorted(found, key=lambda pair: -pair[1])


def about_taken(taken: Sequence[tuple[str, float]], known: Calibration | None) -> Sentence | None:
    """Say how much of each named kind novel clusters take, against a fit without them."""
    novel = None if known is None else known.get("novel")
    if novel is None:
        return None
    if not taken:
        return "Novel clusters take next to nothing of any named kind: held-out rows are called the same without them."
    told = in_shares(taken)
    if not novel["is_harmful"]:
        return f"Of held-out rows that a fit without novel clusters gives a name, novel clusters take {told}."
    return (
        f"A novel cluster explains rows of held-out lists worse than none, by {-novel['gain']:.0f} nats: it takes rows "
        f"of named kinds ({told}). Rows whose list is known are called novel only where that is likelier than a name "
        "by chance; without novel clusters more rows would be named right."
    )


def in_shares(taken: Sequence[tuple[str, float]]) -> str:
    """Return "31% of 'cow' and 12% of 'sheep'"."""
    return some_of([f"{percent(share)} of {name!r}" for name, share in taken], 4)
