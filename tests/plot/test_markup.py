"""Names from data are drawn as they are: never mathematics, whatever they look like."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight import plot
from sidelight.plot._axes import as_png

EVIL = ["$\\frac{$", "a$b$c", "$x$", "\\$", "$", "$\\undefined$"]
N = len(EVIL)
POINTS, LABELS = np.arange(2.0 * N).reshape(N, 2), np.arange(N)

DISPLAYS = [
    plot.ClusterScatterDisplay(POINTS, LABELS, EVIL),
    plot.EmbeddingDisplay(POINTS, LABELS, EVIL),
    plot.TypicalImagesDisplay([np.zeros((1, 2, 2))] * N, EVIL),
    plot.ClusterContentsDisplay(EVIL, [3] * N, [EVIL[:2]] * N, [EVIL[:1]] * N, [1] * N),
    plot.ClusterLabelDisplay(np.eye(N), EVIL, EVIL),
    plot.MovedRowsDisplay(EVIL, EVIL, EVIL[::-1], [0.2] * N, 3, N),
    plot.ClusterClassDisplay(np.eye(N), EVIL, EVIL, [1] * N),
    plot.AlphaCurveDisplay([0.1, 0.2], {name: [0.5, 0.6] for name in EVIL}),
    plot.CoclusterDisplay(np.eye(3) / 3, np.eye(3) / 3, axes_names=EVIL[:2]),
    plot.DecisionRegionsDisplay(np.tile(LABELS, (2, 1)), (0.0, 1.0, 0.0, 1.0), EVIL),
    plot.NovelGroupsDisplay({name: [(name, EVIL[1], 0.5)] for name in EVIL}),
    plot.StartErrorsDisplay({name: [0.1, 0.2] for name in EVIL}, {name: [0.1, 0.2] for name in EVIL}),
]


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda display: type(display).__name__)
def test_dollars_in_names_are_drawn_and_not_computed(display):
    figure = display.plot().figure_
    as_png(figure)  # raised ValueError: mathematics that nobody wrote
    from matplotlib.text import Text

    shown = [text.get_text() for text in figure.findobj(Text)]
    assert any("a\\$b\\$c" in text or "\\$\\frac{\\$" in text for text in shown)
