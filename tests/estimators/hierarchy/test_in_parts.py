"""Trees of labels by parts: the tree of all rows, and weights with the same bits for any files and engines."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sidelight as sl
from sidelight.data import parts as parts_module
from sidelight.data import spill as spill_module
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.estimators.hierarchy import in_parts

N, D, LABELS = 3000, 4, 6
NAMES = [f"label-{j}" for j in range(LABELS)]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    for module in (parts_module, spill_module):
        monkeypatch.setattr(module, "BLOCK", 128)
        monkeypatch.setattr(module, "BLOCKS", 3)
    monkeypatch.setattr(in_parts, "SAMPLE", 800)


@pytest.fixture(scope="module")
def sample():
    return sl.data.make_label_tree(N, n_features=D, n_labels=LABELS, missing=0.25, random_state=0)


def frame_of(sample, *, gaps=0):
    """Rows far from 0; nobody looked at the first ``gaps`` of them."""
    cells = [[NAMES[j] for j in np.flatnonzero(row == 1)] for row in sample.Y_incomplete]
    lists = pl.Series("tags", [None if i < gaps else own for i, own in enumerate(cells)], dtype=pl.List(pl.String))
    X = sample.X * [1, 10, 0.1, 1] + [0, 1000, 5, -3]
    return pl.DataFrame({f"f{j}": X[:, j] for j in range(D)}).with_columns(lists), X


def write(folder, frame, cuts):
    folder.mkdir()
    for number, first in enumerate(cuts[:-1]):
        frame[first : cuts[number + 1]].write_parquet(folder / f"{number}.parquet")
    return sl.Parts.from_parquet(folder, labels="tags", classes=NAMES)


def fit(rows, labels=None, **options):
    engine = options.pop("engine", None)
    beside = {} if engine is None else {"engine": engine}
    return sl.LatentHierarchyClassifier(**options).fit(rows, labels, **beside)


def test_the_tree_and_rates_are_those_of_all_rows(sample):
    frame, X = frame_of(sample, gaps=50)
    Y = np.where(np.arange(N)[:, None] < 50, -1, sample.Y_incomplete)
    labels = sl.LabelMatrix(Y, NAMES)
    parts = sl.Parts.from_frame(frame, labels="tags", classes=NAMES)
    for rows, y, of_parts in ((X, labels, (parts, None)), (None, labels, (None, parts))):
        whole, by_part = fit(rows, y, tol=1e-9), fit(*of_parts, tol=1e-9)  # both reach the optimum
        assert np.array_equal(by_part.tree_.parents, whole.tree_.parents)
        assert by_part.label_alphas_ == pytest.approx(whole.label_alphas_, rel=1e-9)
        assert by_part.edge_counts_ == pytest.approx(whole.edge_counts_)
        assert by_part.candidates_ == pytest.approx(whole.candidates_)
        assert by_part.trace_[-1] >= whole.trace_[-1] - 1e-6 * abs(whole.trace_[-1])
        assert by_part.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-3)
        assert by_part.label_names_ == whole.label_names_
        assert np.mean(by_part.complete(rows, y) == whole.complete(rows, y)) > 0.99


def test_the_same_bits_for_any_files_and_engines(sample, tmp_path):
    frame, _ = frame_of(sample)
    first = fit(write(tmp_path / "1", frame, [0, N]), engine="memory")
    many = write(tmp_path / "4", frame, [0, 700, 701, 2100, N])
    for engine in ("memory", "disk"):
        other = fit(many, engine=engine)
        assert np.array_equal(first.weights_, other.weights_)
        assert np.array_equal(first.trace_, other.trace_)
        assert np.array_equal(first.tree_.parents, other.tree_.parents)


def test_the_objective_of_parts_is_the_objective(sample):
    frame, X = frame_of(sample)
    parts = sl.Parts.from_frame(frame, labels="tags", classes=NAMES)
    with in_parts_passes(parts) as passes:
        model = in_parts._model(sl.LatentHierarchyClassifier(), passes, LABELS, use_features=True)
        tree = in_parts.as_inputs(0.25, sample.tree.parents, 1e-3)
        theta = np.random.default_rng(0).normal(size=LABELS * (D + 1))
        value, gradient = in_parts.PartedLabels(model, passes, tree, tuple(NAMES), "a")(theta)
    whole = in_parts._restricted(model, X)
    scores = whole.scores(theta)
    targets = in_parts.edge_targets(scores, sample.Y_incomplete.astype(np.int8), tree)
    _, wanted = whole.loss(theta, targets.both, targets.parent)
    assert value == pytest.approx(whole.ridge(theta) - targets.log_likelihood.sum(), rel=1e-5)
    np.testing.assert_allclose(gradient, wanted, atol=1e-4 * np.abs(wanted).max())


def in_parts_passes(parts):
    from sidelight._models.passes import InMemory

    return InMemory().over(parts)


def test_gaps_are_filled_part_by_part(sample, tmp_path):
    frame, X = frame_of(sample)
    parts = write(tmp_path / "rows", frame, [0, 1000, N])
    model = sl.Standardized(sl.LatentHierarchyClassifier()).fit(parts)
    filled = parts.apply(lambda rows, bags: model.complete(rows, bags), bags=True)
    wanted = model.complete(X, sl.LabelMatrix(sample.Y_incomplete, NAMES))
    assert np.array_equal(np.asarray(filled), wanted)
    assert (wanted >= (sample.Y_incomplete == 1)).all()


def test_a_tree_that_is_known_is_used(sample):
    frame, _ = frame_of(sample)
    known = sl.LabelTree(np.full(LABELS, -1), NAMES)
    model = fit(sl.Parts.from_frame(frame, labels="tags", classes=NAMES), tree=known)
    assert model.source_ == "given"
    assert (model.tree_.parents == -1).all()
    labels = sl.LabelMatrix(sample.Y_incomplete, NAMES)
    told = {"tree": sl.LabelTree(sample.tree.parents, NAMES), "alpha": "label"}
    by_part = fit(None, sl.Parts.from_frame(frame, labels="tags", classes=NAMES), **told)
    whole = fit(None, labels, **told)
    np.testing.assert_allclose(by_part.label_alphas_, whole.label_alphas_)
    np.testing.assert_allclose(by_part.intercept_, whole.intercept_, atol=1e-3)
    np.testing.assert_allclose(by_part.edge_evidence_, whole.edge_evidence_)


def test_what_is_no_sum_over_rows_or_not_about_rows_is_refused(sample):
    frame, _ = frame_of(sample)
    with pytest.raises(InvalidParameter, match='structure="joint"'):
        fit(sl.Parts.from_frame(frame, labels="tags"), structure="joint")
    with pytest.raises(InvalidData, match=r"has none\. Name their column"):
        fit(sl.Parts.from_frame(frame))
    with pytest.raises(InvalidData, match=r"has none\. Name their column"):
        fit(sl.Parts.from_arrays(sample.X, sl.Bags(np.arange(N))))
    bags = frame.with_columns(bag=pl.int_range(N) // 2, tags=pl.lit("label-1"))
    with pytest.raises(InvalidData, match="labels of 1500 bags"):
        fit(sl.Parts.from_frame(bags, bag="bag", labels="tags"))
    with pytest.raises(InvalidData, match="bring their"):
        fit(sl.Parts.from_frame(frame, labels="tags"), sample.Y_incomplete)
