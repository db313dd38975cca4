"""Methods called with what they cannot use: our own errors, which say what to give instead."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight.app.store.answer_file import AnswerFile
from sidelight.errors import InvalidData, InvalidInput, InvalidParameter, WrongKind

Y = np.arange(30) % 3
X = np.random.default_rng(0).normal(size=(30, 3)) + 5.0 * np.eye(3)[Y]


def test_numbers_of_numpy_are_recorded_as_numbers(tmp_path):
    file = AnswerFile(tmp_path / "answers.jsonl")
    file.record({"event": "answer", "rows": np.array([0, 1]), "answer": "same", "seconds": np.float32(2.5)})
    assert file.events() == [{"event": "answer", "rows": [0, 1], "answer": "same", "seconds": 2.5}]
    assert json.loads((tmp_path / "answers.jsonl").read_text())["rows"] == [0, 1]


@pytest.mark.parametrize("value", [b"ann", "\ud800", {1, 2}, float("nan"), np.array([np.inf]), object()])
def test_what_json_cannot_hold_is_refused_and_nothing_is_written(value, tmp_path):
    file = AnswerFile(tmp_path / "answers.jsonl")
    with pytest.raises(WrongKind):
        file.record({"event": "answer", "who": value})
    with pytest.raises(WrongKind):
        file.record({"event": "answer", (1, 2): "x"})
    with pytest.raises(WrongKind):
        file.record(5)
    assert file.events() == []


@pytest.mark.parametrize(
    "method",
    [sl.peers.FastTag(), sl.peers.BinaryRelevance(), sl.peers.CliqueGeneration()],
    ids=lambda m: type(m).__name__,
)
def test_rows_to_score_may_be_lists(method):
    labels = np.eye(3, dtype=int)[Y]
    fitted = method.fit(X, labels)
    assert fitted.score(X.tolist(), labels.tolist()) == fitted.score(X, labels)
    with pytest.raises(InvalidData):
        fitted.score(5, labels)


@pytest.mark.parametrize("kind", ["dia", "bsr", "csr", "csc", "coo", "lil", "dok"])
@pytest.mark.parametrize("side", ["pairs", "triplets"])
def test_a_sparse_matrix_is_no_list_of_answers(side, kind):
    table = getattr(sp, f"{kind}_array")(np.eye(30))
    with pytest.raises(InvalidData):
        sl.DiscriminativeClustering(3).fit(X, **{side: table})


ARRAYS = [np.array([0.1, 0.2]), np.array(["auto", "b"]), np.zeros(0), np.array([[1]]), [0.1]]


@pytest.mark.parametrize("value", ARRAYS, ids=str)
@pytest.mark.parametrize(
    ("method", "name"),
    [
        (sl.DiscriminativeClustering, "eps"),
        (sl.DiscriminativeClustering, "n_init"),
        (sl.BayesianActiveClustering, "n_particles"),
        (sl.BayesianActiveClustering, "eps"),
        (sl.CoverageClustering, "penalty"),
        (sl.CoverageClustering, "n_novel"),
        (sl.BagSpectralClustering, "alpha"),
    ],
)
def test_an_array_is_no_number(method, name, value):
    with pytest.raises(InvalidParameter):
        method(**{name: value}).fit(X)


@pytest.mark.parametrize("values", [10**400, [[10**400]], [[1, 10**400]]])
def test_numbers_beyond_all_bounds_are_no_labels(values):
    with pytest.raises(InvalidData):
        sl.LabelMatrix(values)


PAIRS = sl.Pairs.from_table([(0, 3, "same"), (3, 6, "same"), (0, 1, "different")], n_rows=30)
TRIPLETS = sl.Triplets.from_table([(0, 3, 1, "c")], n_rows=30)


@pytest.mark.parametrize("limit", ["none", 0.5, [1], 1j, np.ones(4), -1], ids=str)
def test_limits_are_whole_numbers(limit):
    for answers in (PAIRS, TRIPLETS):
        for method in (answers.implied, answers.closure, answers.contradictions):
            with pytest.raises(InvalidParameter):
                method(limit=limit)


@pytest.mark.parametrize("rows", [5, ..., np.array(3.0), None], ids=str)
def test_what_has_no_rows_is_not_judged(rows):
    bags = sl.Bags(np.arange(30) // 3, labels={b: {"a"} if b % 2 else {"a", "b"} for b in range(10)})
    for model in (sl.CoverageClustering(boundary="straight"), sl.DMNL(n_novel=1, n_init=1, random_state=0)):
        fitted = model.fit(X, bags=bags)
        for method in (fitted.score, fitted.predict_bags):
            with pytest.raises(InvalidData):
                method(rows, bags=bags)
    for labels in (np.ones((2, 2)), 5, [["a"]]):
        with pytest.raises(ValueError, match="labels"):
            sl.CoverageClustering(boundary="straight").fit(X, bags=bags).predict_bags_proba(X, bags, labels=labels)


def test_axes_names_and_numbers_of_rows_are_checked():
    table = sl.CoOccurrence.from_matrix(np.ones((3, 4)))
    for axis in (np.array(["a", "b"]), 1, ["a"]):
        with pytest.raises(KeyError):
            table.marginal(axis)
    with pytest.raises(InvalidParameter):
        sl.LabelMatrix(np.eye(3, dtype=int)).with_names(3)
    with pytest.raises(InvalidData):
        sl.LabelMatrix(np.eye(3, dtype=int)).with_names(np.ones((3, 2)))
    with pytest.raises(InvalidData):
        sl.Pairs.from_table([], n_rows=np.ones((2, 2)), ids=["a", "b"])


@pytest.mark.parametrize("thing", ["", 5, {"a": 1}, np.ones(3)], ids=str)
def test_sessions_ask_functions_and_tell_recorders(thing):
    session = sl.ActiveSession(X, 3, random_state=0)
    with pytest.raises(InvalidParameter):
        session.run(thing, 3)
    with pytest.raises(InvalidParameter):
        sl.ActiveSession(X, 3, recorder=thing)
    with pytest.raises(InvalidParameter):
        sl.BayesianActiveClustering(3).start(X, recorder=thing)


@pytest.mark.parametrize("thing", [1j, "auto", ["a", "b"], ..., np.ones((4, 2)), [{"a"}], b"x"], ids=str)
def test_parts_are_made_of_sources_and_files(thing):
    with pytest.raises(WrongKind):
        sl.Parts(thing, ("a",), in_bags=False)
    with pytest.raises(InvalidInput):  # some of these are names of files, which are not there
        sl.Parts.from_parquet(thing)
    with pytest.raises(InvalidParameter):
        sl.Parts.from_arrays(X, feature_names=7)


@pytest.mark.parametrize("rows", [10**12, np.nan, 1j, sp.coo_array(np.eye(4)), (1,), (1, 1), (0, 99)], ids=str)
def test_a_session_may_be_told_about_rows(rows):
    session = sl.ActiveSession(X, 3, random_state=0)
    with pytest.raises(InvalidData):
        session.may_tell(rows)
    assert session.may_tell((0, 1))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda bags: bags.drawn(0), r"Bags\.drawn: rows are selected"),
        (lambda bags: bags.keeping_said(0), r"Bags\.keeping_said takes the same 2 bags"),
        (lambda bags: bags.keeping_said(sl.Bags(["a"])), r"Bags\.keeping_said takes the same 2 bags"),
    ],
)
def test_bags_that_are_drawn_or_joined_say_what_they_take(call, words):
    with pytest.raises(InvalidData, match=words):
        call(sl.Bags(["a", "a", "b"], labels={"a": {"x": 2}}))
