"""Figure 3.8 of [P17] on HJA birdsong: pairs against triplets with as many rows in answers, by the thesis' method.

The page relations_fidelity has its six other sets; there the rivals of figures 3.2 and 3.3 take most of the time, and
HJA birdsong more than all others together.
"""

from __future__ import annotations

from relation_thesis import EQUAL_PAIRS, TRIPLETS, Cell, run, values
from runner import Sheet

TITLE = "Relations: figure 3.8 of [P17] on HJA birdsong"
NAME, DRAWS = "hja", 5
LINES = {
    "DC-P": ("pairs", EQUAL_PAIRS, "DC"),
    "DC-R": ("triplets", TRIPLETS, "DC"),
    "DC-R-C": ("triplets", TRIPLETS, "DC without none"),
}


def fill(sheet: Sheet) -> None:
    """Run what is missing and write the table."""
    cells = [
        Cell(NAME, kind, share, method, draw)
        for draw in range(DRAWS)
        for kind, shares, method in LINES.values()
        for share in shares
    ]
    found = run(cells, "HJA birdsong")
    rows = []
    for label, (kind, shares, method) in LINES.items():
        numbers = [values(found, Cell(NAME, kind, share, method, 0))[:DRAWS] for share in shares]
        rows.append(
            ("HJA birdsong", label, *(f"{n.mean():.3f} ± {n.std(ddof=1) / len(n) ** 0.5:.3f}" for n in numbers))
        )
    header = ("set", "method", *(f"{t:g}N triplets or {p:g}N pairs" for t, p in zip(TRIPLETS, EQUAL_PAIRS)))
    sheet.notes.append(
        f"Protocol of the page relations_fidelity: {DRAWS} draws of right answers, parameters by five folds of answers "
        "once for pairs and once for triplets, pairwise F against the species, mean and standard error."
    )
    sheet.section("Equal instances (figure 3.8): pairwise F", header, rows)
