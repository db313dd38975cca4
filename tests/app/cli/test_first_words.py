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
from sidelight.app.cli import main
try:
    code = main()
except SystemExit as stop:
    code = stop.code
print(json.dumps({"code": code, "heavy": [name for name in HEAVY if name in sys.modules]}))
"""
# Many calls in one process: each line of the answer is what one call said, and what was imported by then.
CALLS = """
import contextlib, io, json, sys
from sidelight.app.cli import main
for call in json.loads(sys.stdin.read()):
    sys.argv = ["sidelight", *call]
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            code = main()
    except SystemExit as stop:
        code = stop.code
    print(json.dumps([code, said.getvalue(), [name for name in HEAVY if name in sys.modules]]))
"""
JOBS = ("relations", "instances", "bags", "sources", "coclusters", "hierarchy")
WRONG = [
    *(([job, "t.csv", "--no-such-option", "--out", "o"], "No such option") for job in JOBS),
    *(([job, "t.csv", "--seed", "many", "--out", "o"], "'many'") for job in JOBS),
    *(([job, "nothing.csv", "--out", "o"], "cannot be read") for job in JOBS),
    *(
        ([job, "t.csv", "--label", "kind", "--out", "o"], "there is no column 'kind' (asked for as label)")
        for job in JOBS
    ),
    *(([job, "t.csv", "--out", "full"], "is not empty") for job in JOBS),
    *(([job, "t.csv", "--out", "o.csv"], "is the name of a file, but several files are written") for job in JOBS),
    (["relations", "t.csv", "-k", "many", "--out", "o"], "'many'"),
    (["instances", "t.csv", "--bag", "recordng", "--out", "o"], "Did you mean 'recording'?"),
    (["instances", "t.csv", "--method", "guess", "--out", "o"], "'guess'"),
    (
        ["instances", "t.csv", "--method", "fast-miml", "--novel", "auto", "--out", "o"],
        "--method coverage and --method dmnl take it",
    ),
    (["bags", "t.csv", "--features", "g*", "--out", "o"], "there is no column 'g*' (asked for as features)"),
    (["coclusters", "t.csv", "--event", "who", "--event", "f0", "--out", "o"], "there is no column 'who'"),
    (["sources", "t.csv", "--channel", "a=g*", "--channel", "b=f1", "--out", "o"], "(asked for as channel 'a')"),
    (["ask", "t.csv", "--no-such-option", "--out", "o"], "No such option"),
    (["ask", "nothing.csv", "--out", "o"], "cannot be read"),
    (["ask", "t.csv", "--label", "kind", "--out", "o"], "there is no column 'kind'"),
    (["ask", "t.csv", "--out", "full"], "is not empty"),
    (["predict", "run", "t.csv", "--no-such-option", "--out", "o"], "No such option"),
    (["predict", "nothing", "t.csv", "--out", "o"], "cannot be read"),
    (["predict", "full", "t.csv", "--out", "o"], "without a model.sidelight"),
    (["predict", "run", "nothing.csv", "--out", "o"], "cannot be read"),
    (["predict", "run", "t.csv", "--bag", "nest", "--out", "o"], "there is no column 'nest' (asked for as bag)"),
    (["predict", "run", "t.csv", "--out", "full"], "is not empty"),
    (["predict", "run", "t.csv", "--out", "t.csv"], "exists"),
    (["score", "t.csv", "t.csv", "--no-such-option"], "No such option"),
    (["score", "t.csv", "nothing.csv"], "cannot be read"),
    (["score", "t.csv", "t.csv", "--out", "t.csv"], "exists"),
    (["compare", "run", "full", "--no-such-option"], "No such option"),
    (["compare", "run", "nothing"], "cannot be read"),
    (["compare", "run", "full", "--out", "full"], "is not empty"),
    (["compare", "run", "full", "--out", "o.csv"], "Name a folder: --out o."),
    (["run", "nothing.toml", "--out", "o"], "Cannot read"),
    (["run", "wrong.toml", "--out", "o"], "Did you mean 'n_clusters'?"),
    (["run", "column.toml", "--out", "o"], "there is no column 'kind'"),
    (["run", "run", "--out", "full"], "is not empty"),
    (["describe", "t.csv", "--no-such-option"], "No such option"),
    (["describe", "nothing.csv"], "cannot be read"),
    (["describe", "t.csv", "--label", "kind"], "there is no column 'kind' (asked for as label)"),
    (["convert", "t.csv", "full"], "is a folder"),
    (["convert", "t.csv", "o.csv", "--label", "kind"], "there is no column 'kind'"),
    (["demo", "--out", "full"], "is not empty"),
]
# These look into files that are no plain table: numpy is there then, and nothing that takes longer.
WRONG_INSIDE = [
    (["score", "a.csv", "a.csv", "--column", "kind"], "has no column 'kind'"),
    (["score", "a.csv", "a.csv", "--truth-column", "kind"], "has no column 'kind'"),
    (["score", "a.csv", "a.csv", "--by", "kind"], "has no column 'kind'"),
    (["score", "full", "t.csv"], "is a folder without assignments.csv"),
    (["compare", "run"], "at least two folders"),
    (["compare", "run", "full"], "Cannot read"),
    (["compare", "run", "run"], "named twice"),
    (["convert", "t.csv", "o.xyz"], "expected a name that ends with"),
    (["sample", "bird", "o.csv"], "Did you mean 'birds'?"),
    (["sample", "birds", "t.csv"], "exists"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    (folder / "t.csv").write_text(TABLE)
    (folder / "a.csv").write_text("row,cluster\n1,0\n2,1\n")
    (folder / "full").mkdir()
    (folder / "full" / "mine.txt").write_text("mine")
    (folder / "run").mkdir()
    (folder / "run" / "model.sidelight").write_text("not looked at")
    run = 'job = "relations"\ntable = "t.csv"\n'
    (folder / "run" / "run.toml").write_text(run.replace("t.csv", "../t.csv") + "[options]\nn_clusters = 2\n")
    (folder / "wrong.toml").write_text(run + "[options]\nn_cluster = 2\n")
    (folder / "column.toml").write_text(run + '[roles]\nlabel = "kind"\n')
    return folder


@pytest.mark.parametrize(("calls", "allowed"), [(WRONG, ()), (WRONG_INSIDE, ("numpy",))], ids=["plain", "inside"])
def test_mistakes_are_told_before_libraries_are_imported(folder, calls, allowed):
    before = sorted(folder.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", f"HEAVY = {[name for name in HEAVY if name not in allowed]!r}\n{CALLS}"],
        capture_output=True, text=True, cwd=folder, check=False, input=json.dumps([call for call, _ in calls]),
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(calls), done.stderr
    for (call, words), (code, said, heavy) in zip(calls, answers):
        assert code == 2, (call, said)
        assert words in said, (call, said)
        assert heavy == [], call
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("table", "allowed"),
    [
        (TABLE, ()),
        ("a;b\n" + "".join(f"{i},5;{i % 3}\n" for i in range(50)), ()),
        ("x,label_a,label_b\n" + "".join(f"{i}.5,{i % 2},{i % 3 // 2}\n" for i in range(50)), ()),
        ("who,what\n" + "".join(f"p{i % 7},q{i % 5}\n" for i in range(50)), ("scipy",)),  # counts are a sparse matrix
    ],
    ids=["bags", "rows", "label sets", "events"],
)
def test_a_small_table_is_described_without_the_libraries_of_large_ones(tmp_path, table, allowed):
    (tmp_path / "t.csv").write_text(table)
    (tmp_path / "pairs.csv").write_text("a,b,answer\n1,2,same\n")  # answers beside the table are read, too
    heavy = [name for name in HEAVY if name not in ("numpy", *allowed)]
    done = subprocess.run(
        [sys.executable, "-c", f"HEAVY = {heavy!r}\n{CODE}", "describe", "t.csv"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert json.loads(done.stdout.splitlines()[-1]) == {"code": 0, "heavy": []}, done.stderr


def test_the_first_look_says_what_the_readers_say(folder):
    quick = _say(folder, "describe", "t.csv", "--bag", "nest")
    (folder / "t.txt").write_text(TABLE)  # not one of the endings that are looked at
    slow = _say(folder, "describe", "t.txt", "--bag", "nest")
    assert quick.replace("t.csv", "t.txt") == slow


@pytest.mark.slow
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


@pytest.fixture(scope="module")
def birds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("birds")
    for call in (
        ["sample", "birds", "birds.csv"],
        ["instances", "birds.csv", "--bag", "recording", "--label", "species", "--novel", "1", "--out", "run"],
    ):
        subprocess.run([sys.executable, "-m", "sidelight", *call], cwd=folder, check=True, capture_output=True)
    lines = (folder / "birds.csv").read_text().splitlines()[:150]
    (folder / "new.csv").write_text("\n".join(lines) + "\n")
    (folder / "plain.csv").write_text("\n".join(",".join(line.split(",")[2:]) for line in lines) + "\n")
    return folder


# scikit-learn's base takes scipy.stats, and pandas where that is installed; what is counted here is what we ask for.
SLOW = ("polars", "matplotlib", "sklearn.cluster", "sklearn.model_selection", "sklearn.neighbors", "sidelight.peers")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "none_of", "most"),
    [("new.csv", SLOW, 1750), ("plain.csv", (*SLOW, "numba"), 1450)],
    ids=["bags", "rows"],
)
def test_predict_on_a_small_table_imports_what_it_needs(birds, table, none_of, most):
    code = f"HEAVY = {none_of!r}\n" + CODE.replace(
        "if name in sys.modules]",
        "if name in sys.modules], 'n': len([n for n in sys.modules if n.split('.')[0] not in ASIDE])",
    )
    aside = "ASIDE = ('pandas', 'pyarrow', 'numexpr', 'bottleneck', 'encodings')\n"
    done = subprocess.run(
        [sys.executable, "-c", aside + code, "predict", "run", table, "--out", f"to-{table}"],
        capture_output=True, text=True, cwd=birds, check=False,
    )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["code"], found["heavy"]) == (0, []), done.stderr
    assert found["n"] <= most, f"{found['n']} modules"
