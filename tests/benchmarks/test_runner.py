"""The benchmark runner: medians, verdicts, pages and ledgers that survive a stop."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def runner(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("runner", BENCHMARKS / "runner.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "runner", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(module, "WORK", tmp_path / "work")
    return module


def test_the_median_ignores_one_slow_call(runner, monkeypatch):
    clock = itertools.accumulate([0, 1, 0, 9, 0, 1, 0, 1, 0, 1])  # five calls: 1, 9, 1, 1, 1 seconds
    monkeypatch.setattr(runner.time, "perf_counter", lambda: next(clock))
    assert runner.seconds(lambda: None, repeats=5) == 1


@pytest.mark.slow
def test_a_page_has_verdicts_versions_and_figures(runner):
    sheet = runner.Sheet("speed", "Speed")
    sheet.row("fit", "2 s", "<= 1 s", met=False)
    sheet.growth("fit", [10, 100, 1000], lambda n: n * 0.001)
    page = sheet.write().read_text()
    assert "| fit | 2 s | <= 1 s | **no** |" in page
    assert "slope 1.00" in page
    assert "numpy" in page
    assert (runner.DOCS / "speed-1.png").exists()


def test_a_ledger_takes_up_where_it_stopped(runner):
    calls = []

    def cell(key):
        return key, lambda: calls.append(key) or len(key)

    runner.Ledger("long").run([cell("a")], stage="first")
    with runner.Ledger("long").path.open("a") as handle:
        handle.write('{"key": "half a li')
    values = runner.Ledger("long").run([cell("a"), cell("bb")], stage="second")
    assert values == {"a": 1, "bb": 2}
    assert calls == ["a", "bb"]
    assert runner.Ledger("long").cells == {"a": 1, "bb": 2}


def test_cells_of_other_code_are_computed_again_where_it_is_asked_for(runner, monkeypatch):
    for code, again, wanted in (("a", False, 1), ("b", False, 1), ("b", True, 2), ("b", True, 2)):
        monkeypatch.setattr(runner, "fingerprint", lambda file, code=code: code * 12)
        monkeypatch.setattr(runner, "AGAIN", again)
        before = runner.Ledger("novel").cells.get("n", 0)
        assert runner.Ledger("novel").run([("n", lambda: before + 1)], stage="")["n"] == wanted  # noqa: B023 -- called at once


@pytest.mark.parametrize(("change", "n_measured"), [(0.0, 5), (0.5, 100)])
def test_cells_of_other_code_are_kept_where_a_sample_of_them_is_the_same(runner, monkeypatch, change, n_measured):
    calls = []

    def cells(change):
        return [(str(k), lambda k=k: calls.append(k) or {"f": k + change, "seconds": len(calls)}) for k in range(100)]

    monkeypatch.setattr(runner, "fingerprint", lambda file: "a" * 12)
    runner.Ledger("novel").run(cells(0.0), stage="first")
    runner.USED.clear(), runner.EARLIER.clear(), runner.MEASURED.clear(), calls.clear()
    monkeypatch.setattr(runner, "fingerprint", lambda file: "b" * 12)
    monkeypatch.setattr(runner, "AGAIN", True)
    values = runner.Ledger("novel").run(cells(change), stage="second")
    assert len(set(calls)) == n_measured
    assert all(values[str(k)]["f"] == k + change for k in range(100))
    page = runner.Sheet("novel", "Novel").write().read_text()
    assert "aaaaaaaaaaaa" not in page
    assert ("so these were kept: 95 of 100 cells." in page) is (n_measured == 5)
    calls.clear()
    runner.Ledger("novel").run(cells(change), stage="third")  # nothing is old any more
    assert not calls
    assert ("so these were kept: 95 of 100" in runner.Sheet("novel", "").write().read_text()) is (n_measured == 5)


def test_times_and_last_digits_do_not_make_a_cell_different(runner):
    assert runner.same(
        {"f": 0.5, "seconds": 1.0, "list": [1, 0.1]}, {"f": 0.5 + 1e-12, "seconds": 9.0, "list": [1, 0.1]}
    )
    assert not runner.same({"f": 0.5}, {"f": 0.501})
    assert not runner.same({"f": 0.5}, {"f": 0.5, "g": 1})
    assert not runner.same([0.5], [0.5, 0.5])
    assert not runner.same({"source": "joint"}, {"source": "gate"})


def test_every_benchmark_file_can_be_run_by_name():
    for path in BENCHMARKS.glob("bench_*.py"):
        source = path.read_text()
        assert "TITLE = " in source, path.name
        assert "def fill(sheet" in source, path.name


def test_a_page_names_the_code_of_its_own_file_and_of_older_cells(runner, monkeypatch):
    monkeypatch.setattr(runner, "fingerprint", lambda file: "a" * 12)
    runner.Ledger("novel").run([("a", lambda: 1)], stage="first")
    monkeypatch.setattr(runner, "fingerprint", lambda file: "b" * 12)
    runner.USED.clear()
    runner.Ledger("novel").run([("a", lambda: 1), ("b", lambda: 2)], stage="second")
    page = runner.Sheet("novel", "Novel").write().read_text()
    assert "`bench_novel.py aaaaaaaaaaaa`, `bench_novel.py bbbbbbbbbbbb`" in page
    assert not runner.USED


@pytest.mark.slow
def test_a_page_says_the_seconds_of_all_its_cells_whenever_they_were_measured(runner, monkeypatch):
    clock = iter([0, 10, 13, 20, 25, 40])  # sheet; cell a takes 3; cell b takes 5; page
    monkeypatch.setattr(runner, "processor", lambda: next(clock))
    sheet = runner.Sheet("novel", "Novel")
    runner.Ledger("novel").run([("a", lambda: 1)], stage="first")
    runner.Ledger("novel").run([("a", lambda: 1), ("b", lambda: 2)], stage="second")
    assert "; 40 s of a processor." in sheet.write().read_text()
    clock = iter([100, 107])
    sheet = runner.Sheet("novel", "Novel")
    runner.Ledger("novel").run([("a", lambda: 1), ("b", lambda: 2)], stage="third")
    assert "; 15 s of a processor." in sheet.write().read_text()  # 7 of this run, 3 and 5 of the earlier one
    with runner.Ledger("novel").path.open("a") as handle:
        handle.write('{"key": "old", "value": 1}\n')
    clock = iter([100, 107])
    sheet = runner.Sheet("novel", "Novel")
    runner.Ledger("novel").run([("a", lambda: 1), ("old", lambda: 2)], stage="fourth")
    assert "s of a processor" not in sheet.write().read_text()  # nobody knows
