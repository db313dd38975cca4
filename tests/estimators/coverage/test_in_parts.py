"""Coverage by parts: the fit of all rows, with the same bits on every engine and for any parts."""

from __future__ import annotations

import errno
import pickle
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sidelight as sl
from sidelight._models.feature_map import FeatureMap
from sidelight._models.objective import NearKernels, PartedObjective, RawColumns, SoftmaxLinear
from sidelight._models.passes import InMemory, OnDisk, engine_for
from sidelight.data import parts as parts_module
from sidelight.data import spill as spill_module
from sidelight.errors import CannotWrite, InvalidData, InvalidParameter, WrongKind
from sidelight.estimators.coverage import clustering, many_rows
from sidelight.estimators.coverage.problem import Told
from sidelight.estimators.coverage.settle import Settings, settle

N_BAGS, D, K = 150, 4, 5


def make(seed=0, *, n_bags=N_BAGS):
    """Rows of five kinds in bags of four to nine, far from 0, the bags' lists exact."""
    generator = np.random.default_rng(seed)
    centres = generator.normal(size=(K, D)) * 1.6
    sizes = generator.integers(4, 10, size=n_bags)
    kinds = [generator.choice(K, size=int(generator.integers(1, 4)), replace=False) for _ in range(n_bags)]
    y = np.concatenate([np.r_[k, generator.choice(k, size=n - len(k))] for k, n in zip(kinds, sizes)])
    ids = np.repeat([f"rec{b:03d}" for b in range(n_bags)], sizes)
    X = (centres[y] + generator.normal(size=(len(y), D))) * [1, 10, 0.1, 1] + [0, 1000, 5, -3]
    lists = {f"rec{b:03d}": {f"k{j}" for j in k} for b, k in enumerate(kinds)}
    return X, sl.Bags(ids.tolist(), labels=lists), y


def as_frame(X, bags):
    cells = ["|".join(sorted(bags.labels[name])) for name in bags]
    return pl.DataFrame({f"f{j}": X[:, j] for j in range(X.shape[1])}).with_columns(
        pl.Series("bag", list(bags)), pl.Series("species", cells)
    )


def write(folder: Path, frame, cuts):
    folder.mkdir()
    for number, first in enumerate(cuts[:-1]):
        frame[first : cuts[number + 1]].write_parquet(folder / f"{number:03d}.parquet")
    return sl.Parts.from_parquet(folder, bag="bag", labels="species")


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(parts_module, "BLOCK", 48)
    monkeypatch.setattr(parts_module, "BLOCKS", 3)
    monkeypatch.setattr(spill_module, "BLOCK", 48)
    monkeypatch.setattr(spill_module, "BLOCKS", 3)
    monkeypatch.setattr(many_rows, "LEAST", 500)
    monkeypatch.setattr(clustering, "LEAST", 10**6)  # rows in memory are fitted whole unless a test says so


def fit(parts, engine=None, **options):
    return sl.CoverageClustering(random_state=0, **{"boundary": "straight", **options}).fit(parts, engine=engine)


def same_bits(a, b):
    assert np.array_equal(a.weights_, b.weights_)
    assert np.array_equal(a.intercept_, b.intercept_)
    assert np.array_equal(a.trace_, b.trace_)
    assert a.log_likelihood_ == b.log_likelihood_


@pytest.mark.filterwarnings(
    "ignore:CoverageClustering stopped after"
)  # sub-clusters of mere noise: bits are compared, not optima
@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"boundary": "curved"}, marks=pytest.mark.slow),
        pytest.param({"n_subclusters": 2, "n_novel": 2, "n_init": 2}, marks=pytest.mark.slow),
    ],
)
def test_the_same_bits_for_any_files_and_engines(tmp_path, options):
    X, bags, _ = make()
    frame, n = as_frame(X, bags), len(X)
    whole = fit(write(tmp_path / "1", frame, [0, n]), "memory", **options)
    cut = write(tmp_path / "7", frame, np.linspace(0, n, 8).astype(int).tolist())  # bags go on in the next file
    same_bits(whole, fit(cut, "memory", **options))
    same_bits(whole, fit(cut, OnDisk(tmp_path), **options))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "7"]  # the scratch copy is gone


def test_the_fit_of_parts_is_the_fit_of_rows():
    X, bags, y = make(n_bags=400)
    settings = {"tol": 1e-8, "max_iter": 500}  # both reach the optimum, whatever road they take
    rows = sl.CoverageClustering(boundary="straight", random_state=0, **settings).fit(X, bags=bags)
    parts = fit(sl.Parts.from_arrays(X, bags), **settings)
    assert parts.trace_[-1] >= rows.trace_[-1] - 1e-6 * len(X)  # a millionth of a nat for each row
    assert parts.log_likelihood_ == pytest.approx(rows.log_likelihood_, rel=1e-3)
    assert np.mean(np.asarray(parts.labels_) == rows.labels_) > 0.999
    assert parts.cluster_shares_ == pytest.approx(rows.cluster_shares_, abs=1e-3)
    assert np.mean(parts.class_of_[np.asarray(parts.labels_)] == y) > 0.9
    assert parts.cluster_names_ == rows.cluster_names_


@pytest.mark.parametrize("boundary", ["straight", "curved"])
def test_the_objective_of_parts_is_the_objective(boundary):
    X, bags, _ = make()
    estimator = sl.CoverageClustering(boundary=boundary, n_novel=1, random_state=0)
    told = Told(X, bags, np.full(len(X), -1))
    first = settle(Settings.of(estimator), told, np.random.default_rng(0))
    problem = first.problem
    theta = np.random.default_rng(1).normal(size=problem.model.n_parameters) * 0.01
    terms = [(1.0, problem.coverage), *problem.others]
    value, gradient = problem.fit.objective(terms, first.layout.n_clusters)(theta)
    weight = 0.3 * len(X)
    wishes = many_rows.ListsOfPart("a", bags.classes, first.layout.class_of, 0.0, 0.0, weight, len(X))
    with InMemory().over(sl.Parts.from_arrays(X, bags)) as passes:
        columns = RawColumns(passes.look, first.feature_map)
        model = SoftmaxLinear(first.boundary.features.shape[1], first.layout.n_clusters)
        of_all = [pair for pair in problem.others if hasattr(pair[1], "of_share")]
        again, slope = PartedObjective(model, passes, columns, wishes, of_all, first.penalty)(theta)
    assert again == pytest.approx(float(value), rel=1e-5)
    np.testing.assert_allclose(slope, gradient, rtol=1e-3, atol=1e-4 * np.abs(gradient).max())


@pytest.mark.slow
def test_bags_whose_rows_lie_apart_are_brought_together(tmp_path):
    X, bags, _ = make()
    order = np.random.default_rng(0).permutation(len(X))
    frame = as_frame(X, bags)[order.tolist()]
    few = write(tmp_path / "2", frame, [0, 300, len(X)])
    many = write(tmp_path / "5", frame, [0, 100, 200, 300, 400, len(X)])
    a, b = fit(few, OnDisk(tmp_path)), fit(many, "memory")
    same_bits(a, b)
    tidy = fit(sl.Parts.from_arrays(X, bags))
    assert a.trace_[-1] == pytest.approx(tidy.trace_[-1], rel=1e-4)
    assert (tmp_path / "2").exists()
    assert len(list(tmp_path.iterdir())) == 2


def test_labels_are_made_part_by_part_and_written(tmp_path):
    X, bags, _ = make()
    parts = write(tmp_path / "rows", as_frame(X, bags), [0, 200, 500, len(X)])
    model = fit(parts)
    by_part = list(model.labels_)
    assert len(by_part) > 3
    assert np.array_equal(np.concatenate(by_part), model.predict(X, bags=bags))
    files = model.labels_.write(tmp_path / "out")
    written = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert len(files) == len(by_part)
    assert written["row"].to_list() == list(range(1, len(X) + 1))
    assert written["bag"].to_list() == list(bags)
    assert written["answer"].to_list() == np.concatenate(by_part).tolist()
    names = parts.apply(model.predict_labels)
    assert np.asarray(names).tolist() == model.predict_labels(X).tolist()


@pytest.mark.slow
def test_a_model_of_parts_is_saved_without_its_rows(tmp_path):
    X, bags, _ = make()
    model = fit(sl.Parts.from_arrays(X, bags))
    sl.save(model, tmp_path / "model.sidelight")
    loaded = sl.load(tmp_path / "model.sidelight")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert len(loaded.labels_) == len(X)
    with pytest.raises(InvalidData, match=r"parts\.apply"):
        list(loaded.labels_)


def test_standardised_rows_by_parts():
    X, bags, _ = make(n_bags=300)
    rows = sl.Standardized(sl.CoverageClustering(boundary="straight", random_state=0)).fit(X, bags=bags)
    parts = sl.Parts.from_arrays(X, bags)
    model = sl.Standardized(sl.CoverageClustering(boundary="straight", random_state=0)).fit(parts)
    assert model.mean_ == pytest.approx(rows.mean_, rel=1e-5)
    assert model.scale_ == pytest.approx(rows.scale_, rel=1e-4)
    assert np.mean(model.predict(X) == rows.predict(X)) > 0.99
    assert np.mean(np.asarray(model.labels_) == rows.labels_) > 0.99
    assert np.array_equal(np.asarray(model.labels_), model.predict(X, bags=bags))


def test_others_are_refused_by_name_with_what_to_do():
    X, bags, _ = make(n_bags=30)
    parts = sl.Parts.from_arrays(X, bags)
    with pytest.raises(WrongKind, match=r"MaxMarginBagClustering cannot be fitted .* parts\.sample"):
        sl.MaxMarginBagClustering(3).fit(parts)
    model = sl.CoverageClustering(random_state=0).fit(X, bags=bags)
    with pytest.raises(WrongKind, match=r"parts\.apply\(model\.predict\)"):
        model.predict(parts)
    with pytest.raises(InvalidData, match="bring their bags"):
        sl.CoverageClustering().fit(parts, bags=bags)
    with pytest.raises(InvalidData, match="has no bags"):
        fit(sl.Parts.from_arrays(X))


def test_a_gap_is_refused_by_its_place(tmp_path):
    X, bags, _ = make()
    X[321, 2] = np.nan
    parts = write(tmp_path / "rows", as_frame(X, bags), [0, 300, len(X)])
    for engine in ("memory", OnDisk(tmp_path)):
        with pytest.raises(InvalidData, match=r"001\.parquet, row 22, column 'f2': a gap"):
            fit(parts, engine)
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path, monkeypatch):
    X, bags, _ = make()
    parts = sl.Parts.from_arrays(X, bags)
    save, calls = np.save, []

    def full(path, array):
        calls.append(path)
        if len(calls) > 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        save(path, array)

    monkeypatch.setattr(spill_module.np, "save", full)
    model = sl.CoverageClustering(random_state=0)
    with pytest.raises(CannotWrite, match="the disk is full"):
        model.fit(parts, engine=OnDisk(tmp_path))
    assert list(tmp_path.iterdir()) == []
    assert not hasattr(model, "labels_")


def test_too_little_room_is_told_before_anything_is_written(tmp_path, monkeypatch):
    X, bags, _ = make()
    monkeypatch.setattr(spill_module.shutil, "disk_usage", lambda folder: type("", (), {"free": 10})())
    with pytest.raises(CannotWrite, match=r"takes .* and 10 bytes are free"):
        fit(sl.Parts.from_arrays(X, bags), OnDisk(tmp_path))
    with pytest.raises(CannotWrite, match="nowhere"):
        fit(sl.Parts.from_arrays(X, bags), OnDisk(tmp_path / "nowhere"))


def test_a_full_disk_while_bags_are_brought_together(tmp_path, monkeypatch):
    X, bags, _ = make()
    apart = as_frame(X, bags)[np.random.default_rng(0).permutation(len(X)).tolist()]
    parts = sl.Parts.from_frame(apart, bag="bag", labels="species")
    append, calls = spill_module._append, []

    def full(*arguments):
        calls.append(arguments)
        if len(calls) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        append(*arguments)

    monkeypatch.setattr(spill_module, "_append", full)
    for engine in (OnDisk(tmp_path), "memory"):
        with pytest.raises(CannotWrite, match="the disk is full"):
            fit(parts, engine)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_full_disk_while_answers_are_written(tmp_path, monkeypatch):
    X, bags, _ = make()
    model = fit(sl.Parts.from_arrays(X, bags))
    write, calls = Path.write_bytes, []

    def full(path, data):
        calls.append(path)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(CannotWrite, match="No space left"):
        model.labels_.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, sl.errors.Cancelled])
def test_an_interrupted_fit_removes_its_scratch_copy(tmp_path, error):
    X, bags, _ = make()
    seen = []

    def stop(step):
        seen.append(step.stage)
        if step.stage == "all rows":
            assert len(list(tmp_path.iterdir())) == 1
            if error is KeyboardInterrupt:
                raise KeyboardInterrupt
            return False
        return True

    with pytest.raises(error), sl.progress(stop):
        fit(sl.Parts.from_arrays(X, bags), OnDisk(tmp_path))
    assert list(tmp_path.iterdir()) == []
    assert "writing a scratch copy" in seen


def test_memory_decides_where_nobody_says():
    X, bags, _ = make(n_bags=30)
    parts = sl.Parts.from_arrays(X, bags)
    assert isinstance(engine_for(None, parts), InMemory)
    assert isinstance(engine_for("auto", parts, memory=1000), OnDisk)
    assert engine_for(Path("somewhere"), parts).scratch == Path("somewhere")
    for wrong in ("ray", 3):
        with pytest.raises(InvalidParameter, match="engine must be"):
            engine_for(wrong, parts)
    with pytest.raises(InvalidParameter, match="memory must be a size"):
        engine_for(None, parts, memory="much")


@pytest.mark.slow
def test_very_many_rows_in_memory_are_climbed_from_a_sample(monkeypatch):
    X, bags, _ = make(n_bags=600)
    settings = {"random_state": 0, "tol": 1e-9, "max_iter": 1000}  # both reach the optimum, whatever road they take
    plain = sl.CoverageClustering(boundary="straight", **settings).fit(X, bags=bags)
    for module in (clustering, many_rows):
        monkeypatch.setattr(module, "LEAST", 800)
    for boundary in ("straight", "curved"):
        few = sl.CoverageClustering(boundary=boundary, **settings).fit(X, bags=bags)
        assert few.boundary_ == boundary
        assert np.array_equal(few.predict(X, bags=bags), few.labels_)
        if boundary == "straight":
            assert few.n_iter_ < plain.n_iter_
            assert few.trace_[-1] >= plain.trace_[-1] - 1e-6 * len(X)
            assert np.mean(few.labels_ == plain.labels_) > 0.9995


def test_bags_with_more_labels_than_rows_are_named():
    X, bags, _ = make()
    lists = {**bags.labels, "rec007": {f"k{j}" for j in range(K)}, "rec099": {f"k{j}" for j in range(K)}}
    short = [name for name in ("rec007", "rec099") if len(bags.rows(name)) < K]
    assert short  # else the test says nothing
    bags = bags.with_labels(lists)
    with pytest.warns(sl.errors.LabelsWithoutRows, match=f"for example bag '{short[0]}'"):
        model = fit(sl.Parts.from_arrays(X, bags))
    assert [name for name, _ in model.uncovered_] == short
    assert all(0 < len(missing) < K for _, missing in model.uncovered_)


@pytest.mark.slow
def test_an_empty_list_is_refused_unless_something_novel_is_allowed():
    X, bags, _ = make()
    parts = sl.Parts.from_arrays(X, bags.with_labels({**bags.labels, "rec005": set()}))
    with pytest.raises(InvalidData, match="'rec005' says that none of the known labels"):
        fit(parts)
    assert fit(parts, n_novel=1).cluster_names_[-1] == "novel-1"


def test_kernels_of_rows_near_and_very_far():
    X, _, _ = make()
    curve = FeatureMap.learn(X, generator=np.random.default_rng(0), n_landmarks=30, unit_rows=False)
    parts = sl.Parts.from_arrays(X)
    kernels = NearKernels.of(parts.look, curve)
    np.testing.assert_allclose(kernels(parts.look.near(X)), curve.kernels(X), atol=1e-5)
    far = kernels(np.full((1, D), 1e30, dtype=np.float32))
    assert (far < 1e-30).all()
    assert len(pickle.dumps(kernels)) < 4 * 30 * (D + 2) + 1000  # a question stays small: no projection goes with it
