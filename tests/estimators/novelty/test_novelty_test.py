"""Whether anything is novel at all: alarms where there is a reason, silence where there is none."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidInput


def lists(seed, *, share):
    """Bags of three named kinds, and a share of rows of a fourth that no list names."""
    generator = np.random.default_rng(seed)
    centres = generator.normal(scale=3.0, size=(4, 5))
    ids = np.repeat(np.arange(60), 5)
    y = np.concatenate([generator.choice(generator.choice(3, 2, replace=False), 5) for _ in range(60)])
    y[generator.random(300) < share] = 3
    labels = {b: {"abc"[k] for k in y[ids == b] if k < 3} for b in range(60)}
    return centres[y] + generator.normal(size=(300, 5)), sl.Bags(ids, labels=labels, classes=list("abc")), y


@pytest.mark.slow
def test_alarms_come_where_something_is_novel():
    p_values = {share: [] for share in (0.0, 0.1)}
    for seed in range(6):
        for share in p_values:
            X, bags, _ = lists(seed, share=share)
            p_values[share].append(sl.novelty_test(X, bags, random_state=0).p_value)
    assert sum(p < 0.05 for p in p_values[0.0]) <= 1
    assert sum(p < 0.05 for p in p_values[0.1]) >= 5


def test_the_rows_that_say_so_come_first():
    X, bags, y = lists(1, share=0.1)
    found = sl.novelty_test(X, bags, random_state=0)
    assert np.mean(y[found.rows[:15]] == 3) > 0.8
    assert found.log_bayes_factor == pytest.approx(found.gains.sum())
    assert len(found.gains) == len(found.bags) == 60
    again = sl.novelty_test(X * [1e6, 1.0, 1.0, 1e-3, 1.0], bags, random_state=0)
    assert again.p_value == pytest.approx(found.p_value, rel=1e-3)  # the solver's tolerance


def test_too_few_lists_are_refused():
    X, bags, _ = lists(0, share=0.1)
    with pytest.raises(InvalidInput, match="only 2 bags"):
        sl.novelty_test(X, bags.without_labels(list(bags.names)[2:]))
    with pytest.raises(InvalidInput, match="n_novel"):
        sl.novelty_test(X, bags, n_novel=0)
