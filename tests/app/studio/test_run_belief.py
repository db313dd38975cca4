"""Rows of a run after people spoke: beliefs by the rule of Bayes, the question worth most, rates, the next run."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from sidelight.app.studio.answers import Answer
from sidelight.app.studio.rows import Rows
from sidelight.app.studio.run import learner
from sidelight.app.studio.run.learner import WRONG, Belief, people_of
from sidelight.app.studio.run.project import changes, renaming
from sidelight.app.studio.run.results import _as_pairs
from sidelight.app.studio.run.start import Start, path_of, read_start, write_start
from sidelight.errors import UnreadableFile

NAN = float("nan")


def rows_of(X, y=None):
    n = len(X)
    ids = tuple(f"r{i}" for i in range(n))
    nothing = ("",) * n
    return Rows(
        None, np.array(X, dtype=float), ids, ("x",), ("values",) * n, nothing, (False,) * n, (("", "", ""),) * n, y
    )


@pytest.fixture
def begun():
    """Six rows on a line in three clusters, in two bags of which the first lists two labels."""
    rows = rows_of([[0.0], [1.0], [5.0], [6.0], [20.0], [21.0]])
    start = Start(
        "instances", "labels", ("wren", "owl", "novel-1"), ("wren", "owl", "novel-1"), np.array([0, 0, 1, 1, 2, 2]),
        np.array([0.9, 0.6, 0.8, 0.95, 0.99, 0.7]), np.array([0, 0, 0, 1, 1, 1]), ("a", "b"), (("owl", "wren"), None),
    )  # fmt: skip
    return rows, start


def said(number, person, row, word, **more):
    rows = (row,) if isinstance(row, int) else row
    return Answer(number, person, rows, word, 0.0, 1.0, **more)


def test_without_a_word_of_people_the_run_is_believed(begun):
    belief = Belief(*begun)
    start = begun[1]
    assert belief.labels.tolist() == start.labels.tolist()
    assert belief.sure.tolist() == start.sure.tolist()
    assert np.allclose(belief.P.sum(axis=1), 1.0)
    assert np.allclose(belief.P[np.arange(6), start.labels], start.sure)
    assert belief.P[2, 0] > belief.P[2, 2]  # nearer to the wrens
    assert belief.P[3, 2] > 0.0  # no list says otherwise


def test_the_names_that_a_run_leaves_open_are_offered_before_likelier_ones(begun, monkeypatch):
    rows, start = begun
    monkeypatch.setattr(learner, "MOST_WORDS", 2)

    def offered(**more):
        told = replace(start, **more)
        return learner.RunLearner.words(SimpleNamespace(_lock=nullcontext(), _belief=Belief(rows, told), start=told), 3)

    assert set(offered()) == {"owl", "wren"}  # the likeliest of a row whose bag has no list
    assert set(offered(one_of=((), (), (), ("owl", "novel-1"), (), ()))) == {"owl", "novel-1"}
    assert set(offered(one_of=((), (), (), ("owl",), (), ()))) == {"owl", "wren"}


def by_hand(P, row, factors):
    mixed = 0.5 * P[row] + 0.5 / P.shape[1]
    for factor in factors:
        mixed = mixed * factor
    return mixed / mixed.sum()


def test_a_label_weighs_by_the_rule_of_bayes(begun):
    belief = Belief(*begun)
    P = belief.P.copy()
    yes = np.array([WRONG, 1 - WRONG, WRONG])
    belief.learn([said(1, 1, 0, "owl"), said(2, 1, 5, "unsure")])
    assert np.allclose(belief.P[0], by_hand(P, 0, [yes]))
    assert np.allclose(belief.P[1:], P[1:])
    assert (belief.labels[0], belief.sure[0]) == (1, belief.P[0, 1])
    belief.learn([said(1, 1, 0, "owl"), said(2, 2, 0, "owl")])
    assert np.allclose(belief.P[0], by_hand(P, 0, [yes, yes]))
    belief.learn([said(1, 1, 0, "wren", is_not=True)])
    assert np.allclose(belief.P[0], by_hand(P, 0, [np.array([WRONG, 1 - WRONG, 1 - WRONG])]))


def test_a_label_that_the_run_does_not_know_is_a_cluster_of_its_own(begun):
    belief = Belief(*begun)
    P = np.hstack([belief.P, np.zeros((6, 1))])
    belief.learn([said(1, 1, 5, "jay")])
    assert (belief.names[-1], belief.label_of[-1], belief.labels[5]) == ("jay", "jay", 3)
    assert np.allclose(belief.P[5], by_hand(P, 5, [np.array([WRONG, WRONG, WRONG, 1 - WRONG])]))


def test_people_are_rated_by_rows_that_others_labelled_too(begun):
    belief = Belief(*begun)
    answers = [said(i, 1, row, "wren") for i, row in enumerate((0, 1))]
    answers += [said(10 + i, 2, row, "wren") for i, row in enumerate((0, 1))]
    answers += [said(20, 3, 0, "owl"), said(21, 3, 5, "novel-1"), said(22, 3, 4, "unsure")]
    belief.learn(answers)
    first, second, third = people_of(belief, answers)
    assert (first.n_tested, second.n_tested, third.n_tested) == (2, 2, 1)
    assert (third.n_answers, third.n_unsure) == (3, 1)
    assert first.rate < third.rate
    assert [rows for rows, _, _ in third.disagree] == [(0,)]
    assert first.disagree == ()


def test_where_a_run_ended_is_read_as_it_was_written(begun, tmp_path):
    _, start = begun
    with pytest.raises(UnreadableFile):
        read_start(tmp_path, 0, 6)
    write_start(tmp_path, 3, start)
    read = read_start(tmp_path, 3, 6)
    for name in ("job", "takes", "names", "label_of", "bag_names", "lists"):
        assert getattr(read, name) == getattr(start, name)
    for name in ("labels", "sure", "bags"):
        assert (getattr(read, name) == getattr(start, name)).all()
    assert read.vocabulary == ("wren", "owl", "novel-1")
    assert (read.beside(0), read.list_of(0), read.list_of(5)) == ([1, 2], ("owl", "wren"), None)
    with pytest.raises(UnreadableFile):
        read_start(tmp_path, 3, 5)
    path_of(tmp_path, 3).write_bytes(b"PK")
    with pytest.raises(UnreadableFile):
        read_start(tmp_path, 3, 6)


def test_clusters_of_the_next_run_are_known_by_name_else_by_their_rows():
    def start(names, labels):
        return SimpleNamespace(names=names, labels=np.array(labels))

    before = start(("owl", "novel-1", "novel-2"), [0, 0, 1, 1, 1, 2])
    after = start(("novel-1", "owl", "novel-2"), [1, 1, 2, 2, 2, 0])
    assert renaming(before, after) == {"novel-1": "novel-2", "novel-2": "novel-1"}
    assert renaming(before, before) == {}
    named = start(("owl", "jay", "wren"), [0, 0, 1, 1, 2, 2])
    assert renaming(before, named) == {"novel-1": "jay", "novel-2": "wren"}
    assert renaming(start(("cluster 0",), [0, 0]), start(("cluster 1",), [0, 0])) == {"cluster 0": "cluster 1"}
    assert renaming(start(("owl 1", "jay"), [0, 1]), start(("owl 1", "jay"), [1, 0])) == {}  # a name, not a number


def test_what_a_run_changed_is_told_the_surest_first():
    shown = SimpleNamespace(labels=np.array([0, 1, 1, 0]), sure=np.array([0.95, 0.7, 0.55, 0.5]))
    project = SimpleNamespace(
        model=SimpleNamespace(snapshot=lambda: shown), names=lambda labels: ["owl", "wren"], cluster_names=dict,
        rows=SimpleNamespace(ids=list("abcd")),
    )  # fmt: skip
    before = (np.array([0, 0, 0, 1]), np.array([0.95, 0.6, 0.5, 0.9]), ["owl", "novel-1"])
    told = changes(project, before, {"novel-1": "owl"})
    assert told["n_moved"] == 2
    assert [(line["id"], line["from"], line["to"]) for line in told["moved"]] == [
        ("b", "owl", "wren"), ("c", "owl", "wren")
    ]  # fmt: skip
    assert (told["sure_before"], told["sure_after"], told["n_surer"], told["n_less"]) == (0.5, 0.25, 1, 1)


def test_a_label_becomes_pairs_with_the_surest_rows_of_its_cluster(begun):
    rows, start = begun
    told = _as_pairs(
        SimpleNamespace(rows=rows, start=start),
        [
            said(1, 1, 2, "wren"),
            said(2, 1, 4, "owl", is_not=True),
            said(3, 1, (2, 0), "different"),
            said(4, 1, 5, "jay"),
            said(5, 1, 5, "unsure"),
            said(6, 1, (3, 4), "unsure"),
        ],
    )
    lines = set(zip(told["left"], told["right"], told["answer"]))
    assert lines == {
        ("r2", "r0", "different"), ("r2", "r1", "same"), ("r4", "r3", "different"), ("r4", "r2", "different")
    }  # fmt: skip
