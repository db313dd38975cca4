"""What the machine, a person or a bug can end a run with: one message, and nothing half-written."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.app.cli.conftest import files
from tests.examples import but_slow

from sidelight.app.cli.app import run as run_app
from sidelight.app.jobs import run as jobs_run
from sidelight.progress import interrupts, report


@pytest.mark.parametrize(
    ("error", "text"), [(MemoryError(), "out of memory"), (PermissionError(13, "Denied"), "Denied")]
)
def test_what_the_machine_cannot_do_is_one_message_and_code_1(sidelight, table, monkeypatch, error, text):
    def failing(job):
        raise error

    monkeypatch.setattr(jobs_run, "find_job", failing)
    code, out, err = sidelight("relations", table, "-k", 2, "--out", "results")
    assert code == 1
    assert text in err
    assert err.count("\n") == 1
    assert "Traceback" not in out + err


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_an_interrupt_or_a_polite_kill_cleans_up_and_says_so(sidelight, table, tmp_path, monkeypatch, name):
    def killed(path, columns, **options):
        path.write_text("half")
        if name == "SIGINT":  # which workers of tests ignore
            raise KeyboardInterrupt
        os.kill(os.getpid(), getattr(signal, name))
        time.sleep(5)

    monkeypatch.setattr(jobs_run, "write_csv", killed)
    before = files(tmp_path)
    if name != "SIGINT":  # nohup, or a terminal that is gone, hands down an ignored one
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    code, _, err = sidelight("relations", table, "-k", 2, "--out", "results")
    assert code == 130
    assert "interrupted; nothing was written" in err
    assert files(tmp_path) == before
    ended = []
    monkeypatch.setattr(os, "_exit", ended.append)
    if name != "SIGINT":
        os.kill(os.getpid(), getattr(signal, name))  # again, while the interpreter ends: exit code -15 before
        assert ended == [130]


def test_an_interrupt_that_compiled_code_swallowed_ends_the_work_at_the_next_report(sidelight, table, monkeypatch):
    def swallowing(job):
        with contextlib.suppress(KeyboardInterrupt):  # as a callback of ctypes does
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        report("going on", 0, 1)
        raise AssertionError("the work went on")

    monkeypatch.setattr(jobs_run, "find_job", swallowing)
    code, _, err = sidelight("relations", table, "-k", 2, "--out", "results")
    assert code == 130
    assert "interrupted" in err
    interrupts.begin()  # another command
    report("from the start", 0, 1)


def test_an_interrupt_while_a_library_is_imported_ends_with_the_code_that_is_said(tmp_path):
    (tmp_path / "asked.py").write_text(
        "from sidelight.app.cli.app import _leave\n"
        "try:\n    exec('raise KeyboardInterrupt')  # as imports do that make classes\n"
        "except KeyboardInterrupt:\n    _leave(130)\n"
    )
    run = subprocess.run([sys.executable, "-m", "asked"], cwd=tmp_path, check=False)
    assert run.returncode == 130


def test_a_signal_that_the_caller_ignores_stays_ignored(sidelight, table, monkeypatch):
    """``nohup`` ignores SIGHUP; the command took it back."""
    write = jobs_run.write_csv

    def hung_up(path, columns, **options):
        os.kill(os.getpid(), signal.SIGHUP)
        time.sleep(0.01)
        write(path, columns, **options)

    monkeypatch.setattr(jobs_run, "write_csv", hung_up)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    code, _, err = sidelight("relations", table, "-k", 2, "--out", "results", "--quiet")
    assert (code, err) == (0, "")


def test_an_interrupt_after_the_results_are_whole_changes_nothing(sidelight, table, tmp_path, monkeypatch):
    move = Path.rename

    def late(self, target):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)
        return move(self, target)

    monkeypatch.setattr(Path, "rename", late)
    code, out, err = sidelight("relations", table, "-k", 2, "--out", "results")
    assert code == 0
    assert "Wrote" in out
    assert "interrupted" not in err
    assert (tmp_path / "results" / "run.toml").exists()
    for number in (signal.SIGTERM, signal.SIGHUP):
        assert signal.getsignal(number) == signal.SIG_IGN  # until the process ends


@pytest.mark.slow
def test_a_full_device_for_the_summary_is_no_traceback(table, tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("this machine has no full device")
    words = [sys.executable, "-m", "sidelight", "sample"]
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr


def test_whatever_goes_wrong_is_one_message(sidelight, table, monkeypatch):
    def broken(job):
        raise NameError("name 'PyLazyFrame' is not defined")  # what polars says when memory ends while it is loaded

    monkeypatch.setattr(jobs_run, "find_job", broken)
    code, _, err = sidelight("relations", table, "-k", 2, "--out", "results")
    assert code == 1
    assert err.count("\n") == 1
    assert "unexpected NameError" in err
    monkeypatch.setenv("SIDELIGHT_TRACEBACK", "1")
    monkeypatch.setattr(sys, "argv", ["sidelight", "relations", str(table), "-k", "2", "--out", "results"])
    with pytest.raises(NameError):
        run_app()


@pytest.mark.slow
def test_a_full_disk_names_the_folder_that_was_asked_for(table, tmp_path):
    words = [sys.executable, "-m", "sidelight", "relations", str(table), "-k", "2", "--out", "results"]
    limits = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))}
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False, **limits)
    assert done.returncode == 1
    assert "Cannot write 'results': File too large" in done.stderr
    assert files(tmp_path) == {"table.csv"}


def test_a_closed_standard_output_is_no_traceback(tmp_path):
    words = f"{sys.executable} -m sidelight sample >&-"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0
    assert done.stderr == ""


ASK = "ask t.csv --out a"


@pytest.mark.parametrize("closed", but_slow(["2>&-", ">&- 2>&-", "<&- 2>&-"], "<&- 2>&-"))
@pytest.mark.parametrize("command", but_slow(["describe t.csv", "relations t.csv -k 2 --out r", ASK], ASK))
def test_closed_streams_are_no_error(table, tmp_path, command, closed):
    """A closed standard error was exit code 1 without a word, and a file could take its number, and its words."""
    (tmp_path / "t.csv").write_bytes(table.read_bytes())
    words = f"{sys.executable} -m sidelight {command} {closed}"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60)
    assert done.returncode == 0, done
    assert "Traceback" not in done.stdout + done.stderr
