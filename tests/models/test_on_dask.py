"""Fits on a Dask cluster: the same bits as in memory, whatever happens to its workers."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time

import numpy as np
import polars as pl
import pytest

import sidelight as sl
from sidelight._models import on_dask
from sidelight._models.passes import InMemory, Moments, OneLook
from sidelight.errors import Cancelled, ClusterGone, InvalidData, InvalidParameter, UnreadableFile, WorkerDied
from sidelight.files.roles import events as part_events

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of distributed, about sockets and ports that are taken

N_BAGS, SIZE, D = 3000, 5, 4


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Five files of rows in bags, one of which goes on in the next file."""
    generator = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("rows")
    kinds = np.argsort(generator.random((N_BAGS, 4)), axis=1)[:, :2]
    y = np.take_along_axis(kinds, np.r_[0, 1, generator.integers(0, 2, SIZE - 2)][None].repeat(N_BAGS, 0), 1).ravel()
    X = generator.normal(size=(4, D))[y] * 2 + generator.normal(size=(N_BAGS * SIZE, D))
    lists = [f"k{min(pair)}|k{max(pair)}" for pair in kinds.tolist()]
    frame = pl.DataFrame({f"f{j}": X[:, j] for j in range(D)}).with_columns(
        pl.Series("bag", np.repeat(np.arange(N_BAGS), SIZE)), pl.Series("species", np.repeat(lists, SIZE))
    )
    cuts = [0, 3001, 6000, 6000, 9000, len(X)]
    for number, first in enumerate(cuts[:-1]):
        frame[first : cuts[number + 1]].write_parquet(folder / f"{number}.parquet")
    return folder


def parts_of(folder):
    return sl.Parts.from_parquet(folder, bag="bag", labels="species")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as local:
        yield local


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def fit(parts, engine, **options):
    return sl.CoverageClustering(boundary="straight", random_state=0, **options).fit(parts, engine=engine)


@pytest.fixture(scope="module")
def reference(rows):
    return fit(parts_of(rows), "memory")


def same_bits(a, b):
    assert np.array_equal(a.weights_, b.weights_)
    assert np.array_equal(a.trace_, b.trace_)
    assert a.log_likelihood_ == b.log_likelihood_


def test_the_same_bits_as_in_memory(rows, client, reference):
    same_bits(fit(parts_of(rows), sl.OnDask(client)), reference)
    assert not on_dask._KEPT.parts  # workers have forgotten the rows
    assert not any(client.processing().values())


def test_the_same_bits_from_a_dask_frame(rows, client, reference):
    dataframe = pytest.importorskip("dask.dataframe")
    lazy = dataframe.read_parquet(sorted(map(str, rows.glob("*.parquet"))))
    parts = sl.Parts.from_dask(lazy, bag="bag", labels="species")
    same_bits(fit(parts, sl.OnDask(client)), reference)


def test_rows_of_this_process_need_a_folder_that_workers_see(rows, client, reference, tmp_path):
    frame = pl.read_parquet(rows / "*.parquet")
    order = np.random.default_rng(0).permutation(len(frame)).tolist()
    bags = sl.Bags(frame["bag"].to_list(), labels={b: set(s.split("|")) for b, s in frame["bag", "species"].rows()})
    parts = sl.Parts.from_arrays(frame.select(f"f{j}" for j in range(D)).to_numpy(), bags)
    with pytest.raises(InvalidData, match=r"memory of this process.*scratch"):
        fit(parts, sl.OnDask(client))
    same_bits(fit(parts, sl.OnDask(client, scratch=tmp_path)), reference)
    apart = sl.Parts.from_frame(frame[order], bag="bag", labels="species")
    assert fit(apart, sl.OnDask(client, scratch=tmp_path)).log_likelihood_ == pytest.approx(
        reference.log_likelihood_, rel=1e-3
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_no_bit(rows, reference):
    """Two real processes; one is killed in a pass, and the other reads its parts, or the one that its nanny starts."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as local,
        distributed.Client(local) as client,
    ):
        victim = sorted(client.run(os.getpid).items())[0][1]
        seen = []

        def kill(step):
            if step.stage == "all rows" and not seen:
                seen.append(step)
                os.kill(victim, signal.SIGKILL)

        with sl.progress(kill):
            model = fit(parts_of(rows), sl.OnDask(client, deadline=120))
        assert seen
        same_bits(model, reference)
        client.wait_for_workers(2, timeout=60)  # its nanny has started another one
        with sl.OnDask(client).over(parts_of(rows)) as passes:
            passes.sum(Moments())
            assert len(passes._own) == 2
            assert all(passes._own.values())  # which gets parts again
            local.scheduler.allowed_failures = 0  # waiting for three more processes takes its time
            with pytest.raises(WorkerDied, match=r"died again and again on parts? 1.*0\.parquet, row 1"):
                passes.run(KillWorker(os.getpid()))


class KillWorker:
    """A question that ends every worker that is asked it."""

    def __init__(self, driver):
        self.driver = driver

    def of_block(self, held, run):
        if os.getpid() != self.driver:
            os._exit(1)
        return (0.0,)


class Slow:
    """A question that takes its time, and can be seen to be asked."""

    def __init__(self, seconds=30.0, error=None):
        self.seconds, self.error = seconds, error

    def of_block(self, held, run):
        if self.error is not None:
            raise self.error
        time.sleep(self.seconds)
        return (0.0,)


def idle(client):
    end = time.monotonic() + 10
    while any(client.processing().values()) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(client.processing().values())


def test_a_deadline_ends_a_pass_by_name(rows, client):
    with sl.OnDask(client, deadline=0.3).over(parts_of(rows)) as passes:
        with pytest.raises(WorkerDied, match=r"No answer about parts? 1.* within 0\.3 s\. .*deadline="):
            passes.run(Slow(0.3))
        assert idle(client)
    with pytest.raises(InvalidParameter, match="deadline"):
        sl.OnDask(client, deadline=0)


def test_control_c_leaves_no_task_behind(rows, client, tmp_path):
    parts = sl.Parts.from_arrays(np.zeros((6000, 2)), sl.Bags(np.arange(6000) // 3))
    with sl.OnDask(client, scratch=tmp_path).over(parts) as passes:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a worker of the tests may ignore it
        try:
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            with pytest.raises(KeyboardInterrupt):
                passes.run(Slow(0.5))
        finally:
            signal.signal(signal.SIGINT, before)
        assert idle(client)
    assert list(tmp_path.iterdir()) == []


def test_a_cancelled_fit_is_as_it_was_and_removes_its_copy(rows, client, tmp_path):
    frame = pl.read_parquet(rows / "*.parquet")[:4000]
    parts = sl.Parts.from_frame(frame[::-1], bag="bag", labels="species")
    model = sl.CoverageClustering(boundary="straight", random_state=0)
    with pytest.raises(Cancelled), sl.progress(lambda step: step.stage != "all rows"):
        model.fit(parts, engine=sl.OnDask(client, scratch=tmp_path))
    assert not hasattr(model, "labels_")
    assert idle(client)
    assert list(tmp_path.iterdir()) == []


def test_what_a_worker_says_is_said_here(rows, client):
    with sl.OnDask(client).over(parts_of(rows)) as passes:
        with pytest.raises(InvalidData, match="row 3"):
            passes.run(Slow(error=InvalidData("row 3 is bad")))
        with pytest.raises(WorkerDied, match="ran out of memory on part"):
            passes.run(Slow(error=MemoryError()))


def test_no_scheduler(rows, monkeypatch):
    monkeypatch.setattr(on_dask, "CONNECT", 0.5)
    with pytest.raises(ClusterGone, match=r"no scheduler at 'tcp://127\.0\.0\.1:1'"):
        sl.OnDask("tcp://127.0.0.1:1").over(parts_of(rows))
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as local:
        monkeypatch.setattr(on_dask, "PATIENCE", 0.2)
        with pytest.raises(ClusterGone, match="no worker"):
            sl.OnDask(local.scheduler_address).over(parts_of(rows))


@pytest.mark.slow
def test_a_scheduler_that_goes_in_a_pass(rows, monkeypatch):
    monkeypatch.setattr(on_dask, "GLANCE", 0.2)
    local = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")
    client = distributed.Client(local, set_as_default=False)  # Dask would go on looking for it after the test
    passes = sl.OnDask(client, deadline=60).over(parts_of(rows))
    threading.Timer(0.5, lambda: local.close(timeout=2)).start()
    with pytest.raises(ClusterGone, match=r"[Ss]tart"):
        passes.run(Slow(0.5))
    passes.close()
    client.close(timeout=1)
    with pytest.raises(ClusterGone, match="not connected"):
        sl.OnDask(client).over(parts_of(rows))


def test_a_client_that_is_not_the_default_one_is_waited_for(rows):
    cluster = distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0")
    with cluster as local, distributed.Client(local, set_as_default=False) as client:
        passes = sl.OnDask(client).over(parts_of(rows))
        assert passes.run(Slow(0))
        client.close()
        with pytest.raises(ClusterGone):
            passes.run(Slow(0))
        passes.close()


@pytest.mark.parametrize("name", ["numpy", "sidelight", "python"])
def test_other_versions_are_refused_by_name(rows, client, monkeypatch, name):
    monkeypatch.setattr(on_dask, "_own_versions", lambda: {**on_dask.versions_here(), name: "1.0"})
    with pytest.raises(ClusterGone, match=rf"runs {name} .* \(here 1\.0\)"):
        sl.OnDask(client).over(parts_of(rows))


def test_workers_without_sidelight_are_told_what_to_install(rows, client, monkeypatch):
    def run(function):
        raise ModuleNotFoundError("No module named 'sidelight'", name="sidelight")

    monkeypatch.setattr(client, "run", run)
    with pytest.raises(ClusterGone, match=r"cannot import sidelight\. Install the same versions on all workers"):
        sl.OnDask(client).over(parts_of(rows))


def test_means_and_scales_are_added_up_by_the_workers(rows, client, monkeypatch):
    here = sl.Standardized(sl.CoverageClustering(boundary="straight", random_state=0)).fit(parts_of(rows))
    monkeypatch.setattr(OneLook, "over", lambda self, parts: pytest.fail("the rows were read by this process"))
    inner = sl.CoverageClustering(boundary="straight", random_state=0)
    there = sl.Standardized(inner).fit(parts_of(rows), engine=sl.OnDask(client))
    assert np.array_equal(here.mean_, there.mean_)
    assert np.array_equal(here.scale_, there.scale_)
    same_bits(here.estimator_, there.estimator_)


@pytest.mark.parametrize("weight", [None, "times"])
def test_events_are_counted_by_the_workers(client, tmp_path, monkeypatch, weight):
    monkeypatch.setattr(part_events, "PIECE", 37)
    generator = np.random.default_rng(0)
    who, what, times = ([f"p{code}" for code in generator.integers(0, 9, 500)], *generator.integers(1, 5, (2, 500)))
    frame = pl.DataFrame({"who": who, "what": what, "times": times})
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    frame[:130].write_parquet(files[0])
    frame[130:].write_parquet(files[1])
    counts = part_events.count_parquet(files, ["who", "what"], weight=weight, engine=sl.OnDask(client))
    assert counts == sl.CoOccurrence.from_table(frame, ["who", "what"], weights=weight)


def says_nothing(rows):
    raise InvalidData("nothing to say")


def test_answers_are_written_by_the_workers(rows, client, reference, tmp_path):
    here = reference.labels_.write(tmp_path / "here")
    there = reference.labels_.write(tmp_path / "there", engine=sl.OnDask(client))
    assert [path.exists() for path in there] == [True] * len(there)
    assert len(there) >= len(here)
    one, other = (pl.read_parquet(tmp_path / name / "*.parquet").sort("row") for name in ("here", "there"))
    assert one.equals(other)
    with pytest.raises(InvalidData, match="nothing to say"):
        parts_of(rows).apply(says_nothing).write(tmp_path / "late", engine=sl.OnDask(client))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "there"]


def test_files_that_differ_are_refused_by_the_worker_that_reads_them(rows, client, tmp_path):
    parts = parts_of(rows)
    assert parts.survey.is_arranged
    assert len(parts.look.centre) == D  # footers, bags and some rows are read now; a file changes behind their back
    broken = sorted(rows.glob("*.parquet"))[1]
    kept = broken.read_bytes()
    try:
        pl.read_parquet(broken).drop("f2").write_parquet(broken)
        with sl.OnDask(client).over(parts) as passes, pytest.raises(UnreadableFile, match=r"1\.parquet"):
            passes.sum(Moments())
    finally:
        broken.write_bytes(kept)


def test_parts_stay_where_they_are_and_newcomers_get_a_share(rows, client, monkeypatch):
    with sl.OnDask(client).over(parts_of(rows)) as passes:
        passes.parts = parts_of(rows).parts(1)
        here = ["a", "b"]
        monkeypatch.setattr(type(passes), "_addresses", lambda self: here)
        first = {address: [part.number for part in parts] for address, parts in passes._assigned().items()}
        assert sorted(first["a"] + first["b"]) == [part.number for part in passes.parts]
        assert {a: [p.number for p in parts] for a, parts in passes._assigned().items()} == first
        here = ["b", "c"]
        second = {address: [part.number for part in parts] for address, parts in passes._assigned().items()}
        assert second == {"b": first["b"], "c": first["a"]}
        here = ["b", "c", "d"]
        third = {address: [part.number for part in parts] for address, parts in passes._assigned().items()}
        assert third["d"]
        assert sorted(n for own in third.values() for n in own) == [part.number for part in passes.parts]


def test_a_worker_without_room_reads_again(rows, client, monkeypatch):
    with InMemory().over(parts_of(rows)) as passes:
        wanted = passes.sum(Moments())
    monkeypatch.setattr(on_dask, "_worker_memory", lambda: 0.0)
    with sl.OnDask(client).over(parts_of(rows)) as passes:
        for _ in range(2):
            again = passes.sum(Moments())
            assert all(np.array_equal(a, b) for a, b in zip(again, wanted))
        assert not [key for key in on_dask._KEPT.parts if key[0] == passes._fit]


def test_a_recipe_and_a_question_are_small(rows):
    recipes = parts_of(rows).parts(1)
    assert len(pickle.dumps(recipes)) / len(recipes) < 400
