"""Warnings go to whoever runs the work, and the filters of the process stay as they were."""

from __future__ import annotations

import threading
import warnings

import pytest

from sidelight._core.process import without_library_warnings
from sidelight.errors import BagsWereCut, ConvergenceWarning, SidelightWarning, capture_warnings, ignore_warnings, warn


def test_without_a_listener_python_warns_at_the_callers_line():
    with pytest.warns(ConvergenceWarning, match="stopped") as caught:
        warn("stopped", ConvergenceWarning)
    assert caught[0].filename == __file__


def test_a_listener_hears_instead_of_python():
    heard = []
    with warnings.catch_warnings(), capture_warnings(heard.append):
        warnings.simplefilter("error")
        warn(SidelightWarning("look", who="me"))
    assert [type(w).__name__ for w in heard] == ["SidelightWarning"]


def test_silence_is_for_the_kinds_that_are_named():
    heard = []
    with capture_warnings(lambda warning: heard.append(str(warning))):
        with ignore_warnings(ConvergenceWarning):
            warn("quick", ConvergenceWarning)
            warn("cut", BagsWereCut)
            warn("again", ConvergenceWarning)
        with ignore_warnings():
            warn("nothing passes")
        warn("heard")
    assert heard == ["cut", "heard"]


def test_two_runs_at_once_hear_their_own_warnings():
    heard = {name: [] for name in "ab"}
    meet = threading.Barrier(2)

    def work(name):
        with capture_warnings(lambda warning: heard[name].append(str(warning))):
            for k in range(20):
                meet.wait()
                warn(f"{name}{k}")

    threads = [threading.Thread(target=work, args=(name,)) for name in heard]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == {name: [f"{name}{k}" for k in range(20)] for name in "ab"}


def test_overlapping_silence_restores_the_filters():
    before = list(warnings.filters)
    entered, leave = threading.Event(), threading.Event()

    def other():
        with without_library_warnings():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with without_library_warnings():
        thread.start()
        entered.wait()
    assert warnings.filters != before  # the other thread is still inside
    leave.set()
    thread.join()
    assert list(warnings.filters) == before
