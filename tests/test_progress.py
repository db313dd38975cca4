"""Progress and cancelling through a context variable."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import Cancelled
from sidelight.progress import report

X = np.random.default_rng(0).normal(size=(30, 2))


def test_a_fit_gives_signs_of_life():
    steps = []
    with sl.progress(steps.append):
        sl.DiscriminativeClustering(2, n_init=2, random_state=0).fit(X)
    stages = {step.stage for step in steps}
    assert {"trying a start: rows 1", "trying a start: rows 2", "following the answers"} <= stages
    assert [step.done for step in steps if step.stage == "trying a start: rows 1"][:2] == [1, 2]


def test_returning_false_cancels():
    with sl.progress(lambda step: False), pytest.raises(Cancelled, match="trying a start: rows 1"):
        sl.DiscriminativeClustering(2, random_state=0).fit(X)


def test_silent_outside_the_block_and_in_other_threads():
    steps = []
    with sl.progress(steps.append):
        thread = threading.Thread(target=report, args=("elsewhere", 1))
        thread.start()
        thread.join()
    report("after", 1)
    assert steps == []


def test_an_inner_none_silences():
    steps = []
    with sl.progress(steps.append), sl.progress(None):
        report("quiet", 1)
    assert steps == []
