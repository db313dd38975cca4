"""Pictures of label trees."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidData
from sidelight.plot import LabelTreeDisplay, LossRateDisplay


@pytest.fixture(scope="module")
def fitted():
    sample = sl.data.make_label_tree(600, n_labels=9, missing=0.2, random_state=1)
    return sl.LatentHierarchyClassifier().fit(None, sample.Y_incomplete), sample


def captions(display):
    return [text.get_text() for text in display.ax_.texts]


def test_every_label_has_a_line_with_its_counts(fitted):
    model, _ = fitted
    drawn = LabelTreeDisplay.from_estimator(model).plot()
    assert sorted(drawn.shown_.tolist()) == list(range(9))
    label = int(np.flatnonzero(model.tree_.parents >= 0)[0])
    both, seen = model.edge_counts_[label].astype(int)
    assert any(text.startswith(f"{label} ") and f"{both} of {seen}" in text for text in captions(drawn))


def test_lines_stand_under_each_other_in_order_of_the_tree(fitted):
    drawn = LabelTreeDisplay.from_estimator(fitted[0]).plot()
    heights = [text.get_position()[1] for text in drawn.ax_.texts[:-1]]
    assert heights == sorted(heights, reverse=True)
    assert len(set(heights)) == 9


def test_differing_edges_are_red_and_name_the_other_parent(fitted):
    model, _ = fitted
    tree = model.tree_
    child = int(np.flatnonzero(tree.parents >= 0)[-1])
    other = np.array(tree.parents)
    other[child] = -1
    drawn = LabelTreeDisplay.from_estimator(model, compared_with=sl.LabelTree(other, tree.names)).plot()
    marked = [text.get_text() for text in drawn.ax_.texts if text.get_color() == "#cc3311"]
    assert len(marked) == 1
    assert marked[0].endswith("[root]")
    with pytest.raises(InvalidData, match="different names"):
        LabelTreeDisplay(tree, compared_with=sl.LabelTree([-1], ["x"]))


def test_large_trees_are_folded_and_say_how_many_are_hidden():
    tree = sl.LabelTree([-1] * 10 + [i % 10 for i in range(200)])
    drawn = LabelTreeDisplay(tree, most=40).plot()
    assert len(drawn.shown_) == 10
    assert sum("(+20 below)" in text for text in captions(drawn)) == 10
    assert len(LabelTreeDisplay(sl.LabelTree([-1] * 300), most=40).plot().shown_) == 40


def test_further_parents_are_written_behind_the_label_and_names_are_no_mathematics():
    tree = sl.LabelTree([-1, -1, 0], ["a", "b", "c$x$"])
    drawn = LabelTreeDisplay(tree, extra_parents=[("b", "c$x$", 9.0)]).plot()
    drawn.figure_.canvas.draw()
    assert any("also under b" in text for text in captions(drawn))


def test_a_dashed_line_is_weak_evidence():
    tree = sl.LabelTree([-1, 0, 0], ["a", "b", "c"])
    drawn = LabelTreeDisplay(tree, evidence=[np.nan, 50.0, 1.0]).plot()
    styles = [line.get_linestyle() for line in drawn.ax_.lines if len(set(line.get_xdata())) == 2]
    assert styles == ["-", "-", "--"]


def test_a_label_is_orange_where_the_gaps_are_not_random():
    tree = sl.LabelTree([-1, 0, 0], ["a", "b", "c"])
    drawn = LabelTreeDisplay(tree, gap_p_values=[np.nan, 0.5, 1e-6]).plot()
    assert [text.get_color() for text in drawn.ax_.texts[:3]] == ["black", "black", "#cc6600"]


def test_estimates_are_drawn_over_the_truth():
    drawn = LossRateDisplay(
        [0.1, 0.3], {"ours": [[0.1, 0.1], [0.3, 0.28]], "thesis": [[0.05, 0.06], [0.2, 0.2]]}
    ).plot()
    assert [text.get_text() for text in drawn.ax_.get_legend().get_texts()] == ["truth", "ours", "thesis"]
    with pytest.raises(InvalidData, match="shape"):
        LossRateDisplay([0.1, 0.3], {"ours": [0.1, 0.2]})
