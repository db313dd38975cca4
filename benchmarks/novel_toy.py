"""Figures 1 and 2 of [Z17] on its toy: decision regions of MIML-NC and DMNL, and the influence of k."""

from __future__ import annotations

from typing import Any

import sidelight as sl
from runner import Sheet
from sidelight.plot import DecisionRegionsDisplay, NovelCountDisplay

COUNTS = (1, 2, 4, 8)


def draw(sheet: Sheet) -> None:
    """Draw both figures below the page's tables."""
    toy = sl.data.make_rectangles(random_state=0)
    first = {
        "MIML-NC": sl.peers.NovelClassLogisticRegression().fit(toy.X, bags=toy.bags),
        "DMNL, k = 2": sl.DMNL(n_novel=2, random_state=0).fit(toy.X, bags=toy.bags),
    }
    about = "Figure 1 of [Z17]: rectangles 0 and 5 are on no list; MIML-NC has one novel class, DMNL tells two apart"
    sheet.figure(_regions(first, toy), about)
    second = {f"k = {k}": sl.DMNL(n_novel=k, random_state=0).fit(toy.X, bags=toy.bags) for k in COUNTS}
    sheet.figure(_regions(second, toy), "Figure 2 of [Z17]: DMNL with 1, 2, 4 and 8 novel labels allowed")
    curve = NovelCountDisplay.from_estimator(sl.DMNL(random_state=0), toy.X, toy.bags, counts=COUNTS, y=toy.y).plot()
    found = ", ".join(f"{n} of {k}" for n, k in zip(curve.found, curve.counts))
    sheet.figure(curve.figure_, f"The same in figures: novel labels found {found}")


def _regions(models: dict[str, Any], toy: Any) -> Any:
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(4.2 * len(models), 3.2), layout="constrained")
    for ax, (name, model) in zip(drawn.subplots(1, len(models)), models.items()):
        DecisionRegionsDisplay.from_estimator(model, toy.X, boxes=toy.rectangles).plot(ax)
        ax.set_title(name, fontsize=9)
    return drawn
