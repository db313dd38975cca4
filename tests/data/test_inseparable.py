"""Lists that cannot tell labels apart are said, with the names of the labels."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.app.jobs.describe import describe
from sidelight.data.inseparable import inseparable_labels
from sidelight.errors import InseparableLabels


def bags(*lists, size=3):
    ids = np.repeat(np.arange(len(lists)), size)
    return sl.Bags(ids, labels=dict(enumerate(lists)))


TOGETHER = [{"wren", "owl"}, {"jay"}, {"wren", "owl", "jay"}] * 7
EVERYWHERE = [{"wren"}, {"wren", "jay"}, {"wren", "owl"}] * 7
FINE = [{"wren"}, {"owl"}, {"wren", "owl"}] * 7


def test_groups_and_labels_on_every_list_are_found():
    assert [set(group) for group in inseparable_labels(bags(*TOGETHER)).together] == [{"wren", "owl"}]
    assert inseparable_labels(bags(*EVERYWHERE)).everywhere == ("wren",)
    assert not inseparable_labels(bags(*FINE))
    assert not inseparable_labels(bags(*TOGETHER[:6]))  # too few lists to say


@pytest.mark.parametrize("lists", [TOGETHER, EVERYWHERE])
def test_the_fit_warns(lists):
    held = bags(*lists)
    X = np.random.default_rng(0).normal(size=(held.n_rows, 2))
    with pytest.warns(InseparableLabels, match="wren"):
        sl.CoverageClustering(boundary="straight", random_state=0).fit(X, bags=held)


def test_describe_says_it(tmp_path):
    lines = ["recording,species,f1,f2"]
    rng = np.random.default_rng(0)
    for number, names in enumerate(TOGETHER):
        lines += [f"r{number},{'|'.join(sorted(names))},{rng.normal():.3f},{rng.normal():.3f}" for _ in range(3)]
    path = tmp_path / "birds.csv"
    path.write_text("\n".join(lines) + "\n")
    assert any("'owl' and 'wren' always come together" in text for text in describe(str(path)).warnings)


def test_few_of_many_groups_are_named():
    lists = {bag: {f"a{bag}", f"b{bag}"} for bag in range(5_000)}  # once a warning of a megabyte
    found = inseparable_labels(sl.Bags(list(lists), labels=lists))
    assert len(found.together) == 5_000
    told = "; ".join(found.sentences())
    assert "'a0' and 'b0'" in told
    assert "4995 further groups" in told
    assert len(told) < 1_000
