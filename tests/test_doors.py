"""Public doors: an odd call is answered with an error of ours or a valid object, never with anything else."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight.errors import InvalidData, InvalidParameter, SidelightError, WrongKind, as_invalid_data

pytestmark = pytest.mark.filterwarnings("ignore::sidelight.errors.SidelightWarning")
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def attack():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        from attack import calls, configs, models, parts, ragged

        yield {"calls": calls, "configs": configs, "models": models, "parts": parts, "ragged": ragged}
    finally:
        sys.path.remove(str(BENCHMARKS))


ROWS = np.random.default_rng(0).normal(size=(40, 3))
CALLS = {
    "axes": lambda: sl.CoOccurrence(axes=2, coords=2, counts=2, shape=[2, 2]),
    "shape": lambda: sl.CoOccurrence(axes=("a", "b"), coords=[[0], [0]], counts=[1], shape=5),
    "batches": lambda: sl.CoOccurrence.from_batches(0.5),
    "matrix axes": lambda: sl.CoOccurrence.from_matrix([[1, 2]], axes=0),
    "labels of codes": lambda: sl.CoOccurrence.from_matrix([[1, 2]], labels=0.5),
    "edges": lambda: sl.LabelTree.from_edges(0),
    "paths": lambda: sl.LabelTree.from_paths(2**63),
    "names of edges": lambda: sl.LabelTree.from_edges([], names=1.5),
    "sets": lambda: sl.LabelMatrix.from_sets(0),
    "names of labels": lambda: sl.LabelMatrix(np.zeros((2, 2)), names=3),
    "table of bags": lambda: sl.Bags.from_table([1, 1], np.array(3.0)),
    "dataset": lambda: sl.Dataset(X=7, feature_names=()),
    "digits": lambda: sl.data.load_digit_bags(novel=0),
    "sequences": lambda: sl.data.make_sources(n_sequences=2**63),
    "rows": lambda: sl.DiscriminativeClustering(2).fit(0.5),
    "rows of words": lambda: sl.DiscriminativeClustering(2).fit(np.array(["a", "b"])),
    "complex rows": lambda: sl.estimators.Codebook(2).fit(1j),
    "distances": lambda: sl.estimators.bag_distances(True, [0]),
    "reading": lambda: sl.estimators.ClusterReading.from_labels(b"x", sl.Bags([0, 0])),
    "reading of nothing": lambda: sl.estimators.ClusterReading.from_estimator(0),
    "counts of clusters": lambda: sl.estimators.ClusterReading.from_labels(
        [0, 0], sl.Bags([0, 0]), n_clusters=-(2**31)
    ),
    "groups": lambda: sl.peers.SeededAgglomerative(2).fit(ROWS, groups=1.5),
    "columns": lambda: sl.Standardized(sl.DiscriminativeClustering(2), feature_names=1.5).fit(ROWS),
    "grid": lambda: sl.estimators.MaxMarginBagClusteringCV(2, balances=object).fit(ROWS, bags=np.arange(40) // 4),
    "metric": lambda: sl.estimators.BagKMedoids(2, metric=sp.csr_array((40, 5))).fit(ROWS, bags=np.arange(40) // 4),
    "rounds": lambda: sl.estimators.BagKMedoids(2, max_iter=2**63).fit(ROWS, bags=np.arange(40) // 4),
    "affinity": lambda: sl.peers.RegularizedSpectralClustering(2, affinity=sp.csr_array((4, 5))).fit(ROWS),
    "start": lambda: sl.estimators.SpectralContingency(2).fit(np.ones((40, 40)), init=0),
    "constraints": lambda: sl.estimators.WeightCoclustering(2, constraints=0).fit(np.ones((4, 4))),
    "margins": lambda: sl.estimators.InterleavedCoclustering(n_clusters=2, margins=2).fit(np.ones((4, 4))),
    "table of losses": lambda: sl.metrics.information_loss(1, {"a": [0], "b": [1]}),
    "row labels": lambda: sl.peers.OredLogisticRegression().fit(ROWS, bags=np.arange(40) // 4, row_labels=0),
    "sets as row labels": lambda: sl.peers.OredLogisticRegression().fit(
        ROWS, bags=np.arange(40) // 4, row_labels=[{"a"}] * 40
    ),
    "other columns": lambda: sl.estimators.bag_distances(
        ROWS, np.arange(40) // 4, np.zeros((1, ROWS.shape[1] + 1)), ["a"]
    ),
    "one size of all axes": lambda: sl.CoOccurrence.from_codes({"a": [0], "b": [1]}, sizes=2),
    "labels of no axis": lambda: sl.CoOccurrence.from_codes({"a": [0], "b": [1]}, labels=[(0, 1, 2)]),
    "sparse names": lambda: sl.CoOccurrence.from_matrix(np.ones((3, 2)), labels=sp.coo_array(np.eye(4))),
    "one tau": lambda: sl.DiscriminativeClusteringCV(2, taus=np.array(3.0)).fit(ROWS),
    "one penalty": lambda: sl.DiscriminativeClusteringCV(2, penalties=0).fit(ROWS),
    "a folder of answers": lambda: sl.AnswerFile(""),
    "no classifier": lambda: sl.peers.NovelLabels(np.array(["a", "b"])).fit(ROWS, bags=np.arange(40) // 4),
    "no threshold": lambda: sl.peers.NovelLabels(sl.peers.FastMIML(), threshold=np.zeros((0, 3))).fit(
        ROWS, bags=np.arange(40) // 4
    ),
    "novel": lambda: sl.CoverageClustering(n_novel=10**12).fit(ROWS, bags=np.arange(40) // 4),
    "medoids": lambda: sl.estimators.BagKMedoids(10**19).fit(ROWS, bags=np.arange(40) // 4),
    "load": lambda: sl.load(5),
    "rectangles": lambda: sl.data.make_rectangles(novel=0),
    "test of novelty": lambda: sl.novelty_test(0, [0]),
    "belief": lambda: sl.ActiveSession(ROWS, 2, belief=5),
    "answers": lambda: sl.AnswerFile([1]),
    "study": lambda: sl.data.Labeller.of_study({"a": {"b"}}),
    "labeller": lambda: sl.Pairs.sample(np.arange(40) % 3, 7, labeller={"a": [0]}, random_state=0),
    "one batch": lambda: sl.CoOccurrence.from_batches(np.array(3.0)),
    "table of triplets": lambda: sl.Triplets.from_table(np.array(3.0), n_rows=30),
}


@pytest.mark.parametrize("name", CALLS)
def test_odd_calls_are_refused_with_our_own_errors(name):
    with pytest.raises(SidelightError) as caught:
        CALLS[name]()
    assert str(caught.value).strip()


def test_a_number_of_passes_may_be_any_whole_number():
    model = sl.estimators.BagKMedoids(2, max_iter=10**12, random_state=0).fit(ROWS, bags=np.arange(40) // 4)
    assert len(model.bag_labels_) == 10


def test_words_of_other_libraries_become_our_errors():
    with pytest.raises(WrongKind, match="who: bad"), as_invalid_data("who"):
        raise TypeError("bad")
    with pytest.raises(InvalidData, match=r"^bad"), as_invalid_data():
        raise ValueError("bad")
    with pytest.raises(InvalidParameter), as_invalid_data():
        raise InvalidParameter("ours stays as it is")
    with pytest.raises(KeyError), as_invalid_data():
        raise KeyError("a mistake of ours is not dressed up")


@pytest.mark.parametrize(
    "kind", [pytest.param("calls", marks=pytest.mark.slow), "configs", "models", "parts", "ragged"]
)
def test_a_small_attack_is_clean(attack, tmp_path, kind, monkeypatch):
    module = attack[kind]
    if kind == "models":
        from attack.small import write_models

        files = write_models(tmp_path / "models")
        monkeypatch.setattr(module, "sources", lambda: files)
    verdicts = []
    cases = {"calls": [500], "configs": range(60), "models": range(100), "parts": range(12), "ragged": range(15)}
    for number in cases[kind]:
        folder = tmp_path / f"case {number}"
        folder.mkdir()
        verdict = module.attack(number, folder)
        verdicts += [verdict] if isinstance(verdict, str) else verdict
    assert set(verdicts) <= {"accepted", "refused"}
