"""What is wrong with a call is said before the libraries are imported that would only be needed without it."""

from __future__ import annotations

import json
import resource
import subprocess
import sys

import pytest

TABLE = "recording,species,f0,f1\n" + "".join(f"r{i // 3},wren,{i % 7},{i % 5}\n" for i in range(60))
HEAVY = ("numpy", "scipy", "sklearn", "pandas", "polars", "numba", "matplotlib", "narwhals")
CODE = """
import json, sys
from sidelight.cli import main
try:
    code = main()
except SystemExit as stop:
    code = stop.code
print(json.dumps({"code": code, "heavy": [name for name in HEAVY if name in sys.modules]}))
"""
WRONG = {
    "option": (["relations", "t.csv", "--no-such-option"], "No such option"),
    "value": (["relations", "t.csv", "-k", "many", "--out", "o"], "'many'"),
    "file": (["instances", "nothing.csv", "--out", "o"], "cannot be read"),
    "column": (["instances", "t.csv", "--bag", "recordng", "--out", "o"], "Did you mean 'recording'?"),
    "columns": (["bags", "t.csv", "--features", "g*", "--out", "o"], "there is no column 'g*' (asked for as features)"),
    "described column": (["describe", "t.csv", "--label", "kind"], "there is no column 'kind' (asked for as label)"),
    "full folder": (["instances", "t.csv", "--out", "full"], "is not empty"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    (folder / "t.csv").write_text(TABLE)
    (folder / "full").mkdir()
    (folder / "full" / "mine.txt").write_text("mine")
    return folder


@pytest.mark.parametrize("what", WRONG)
def test_mistakes_are_told_before_libraries_are_imported(folder, what):
    arguments, words = WRONG[what]
    done = subprocess.run(
        [sys.executable, "-c", f"HEAVY = {HEAVY!r}\n{CODE}", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found == {"code": 2, "heavy": []}, done.stderr
    assert words in done.stderr
    assert not (folder / "o").exists()


def test_the_first_look_says_what_the_readers_say(folder):
    quick = _say(folder, "describe", "t.csv", "--bag", "nest")
    (folder / "t.txt").write_text(TABLE)  # not one of the endings that are looked at
    slow = _say(folder, "describe", "t.txt", "--bag", "nest")
    assert quick.replace("t.csv", "t.txt") == slow


@pytest.mark.parametrize(
    ("table", "options"),
    [
        ("r1;2\nr1;3\nr2;4\n", ["--no-header"]),
        ('"a,b",x\n1,2\n3,4\n', ["--label", "a,b"]),
        ("a b,x\n1,2\n2,3\n", ["--label", "a*"]),
    ],
    ids=["no header", "quoted", "pattern"],
)
def test_the_first_look_lets_pass_what_the_readers_take(tmp_path, table, options):
    (tmp_path / "t.csv").write_text(table)
    done = subprocess.run([sys.executable, "-m", "sidelight", "describe", "t.csv", *options], cwd=tmp_path, check=False)
    assert done.returncode == 0


def test_describe_is_quick_on_a_small_file(folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _say(folder, "describe", "t.csv")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert spent < 4.0  # one second on a machine with nothing else to do; scikit-learn and numba alone would take more


def _say(folder, *arguments):
    command = [sys.executable, "-m", "sidelight", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False).stderr


def test_a_limit_of_addresses_below_what_the_libraries_take_is_told_before_they_are_loaded(folder):
    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (1200 << 20, 1200 << 20))

    done = subprocess.run(
        [sys.executable, "-c", f"HEAVY = {HEAVY!r}\n{CODE}", "relations", "t.csv", "-k", "2", "--out", "o"],
        capture_output=True, text=True, cwd=folder, check=False, preexec_fn=limited,
    )  # fmt: skip
    assert json.loads(done.stdout.splitlines()[-1]) == {"code": 1, "heavy": []}, done.stderr
    assert "this process may use 1,200 MB. Raise the limit with ulimit -v" in done.stderr
    assert not (folder / "o").exists()
