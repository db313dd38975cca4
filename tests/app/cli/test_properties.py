"""Whatever table and options a command gets: it works, or says in one message what is wrong and leaves files alone."""

from __future__ import annotations

import io
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import but_slow

from sidelight.app.cli.app import run
from sidelight.app.jobs.samples import write_sample

CELLS = st.one_of(
    st.integers(-3, 9).map(str),
    st.floats(-9, 9).map(lambda value: f"{value:.3g}"),
    st.sampled_from(
        ["", "NA", "nan", "inf", "1,5", "wren", "wren|owl", "ø", '"', "=1+1", "1e999", " ", "\t", "x" * 300]
    ),
)
NAMES = st.sampled_from(
    ["id", "recording", "species", "a", "b", "a", "label_x", "label_y", "session", "face_1", "ü", ""]
)
ENDS = st.sampled_from(["\n", "\r\n", "\n\n"])


@st.composite
def messy(draw):
    """Draw the text of a small table with ragged lines, odd cells and names that come back."""
    width, height = draw(st.integers(1, 5)), draw(st.integers(0, 12))
    names = draw(st.lists(NAMES, min_size=width, max_size=width))
    cells = st.lists(CELLS, min_size=max(1, width - 1), max_size=width)
    lines = [names, *draw(st.lists(cells, min_size=height, max_size=height))]
    start = draw(st.sampled_from(["", "\ufeff"]))
    return start + draw(ENDS).join(draw(st.sampled_from([",", ";"])).join(line) for line in lines)


@st.composite
def tidy(draw):
    """Draw a table that every job can read: bags with lists, three labels of rows, two channels, whole numbers."""
    names = ["recording", "species", "label_x", "label_y", "label_z", "face_1", "face_2", "hat_1"]
    lines = [names]
    for row in range(draw(st.integers(6, 14))):
        heard = "wren|owl" if row // 3 % 2 else "wren"
        numbers = draw(st.lists(st.integers(0, 9).map(str), min_size=3, max_size=3))
        flags = draw(st.lists(st.sampled_from(["0", "1", ""]), min_size=3, max_size=3))
        lines.append([f"r{row // 3}", heard, *flags, *numbers])
    return "\n".join(",".join(line) for line in lines) + "\n"


tables = st.one_of(tidy(), tidy(), messy())


COLUMN = st.sampled_from(["a", "recording", "species", "nobody", "*", "none", ""])
OPTIONS = {
    "--bag": COLUMN,
    "--label": COLUMN,
    "--id": COLUMN,
    "--ignore": COLUMN,
    "--features": COLUMN,
    "--missing": st.sampled_from(["mean", "drop", "guess"]),
    "--separator": st.sampled_from([",", "|", ""]),
    "--seed": st.sampled_from(["0", "7", "-1", "x"]),
}
OF_JOB = {
    "-k": st.sampled_from(["auto", "1", "2", "3", "99", "0", "x", "2,2"]),
    "--channel": st.sampled_from(["f=face_*", "h=hat_*", "f=a", "x", "a=b,a"]),
    "--event": st.sampled_from(["a", "b", "nobody"]),
    "--scale": st.sampled_from(["none", "standard"]),
}
FIRST = {  # what a table of ours needs to be read as the job wants it
    "sources": ["--channel", "face=face_*", "--channel", "hat=hat_*"],
    "hierarchy": ["--label", "label_*"],
    "coclusters": ["--label", "none", "--features", "face_*", "--features", "hat_*"],
}
FLOWERS = [
    "sepal_length",
    "sepal_width",
    "petal_length",
    "petal_width",
]  # the features of the sample that the finished runs were fitted on
METHODS = {"instances": ["coverage", "spectral", "fast-miml"], "bags": ["words", "margin", "medoids"]}


def spoiled(*parts):
    """Draw the one part of a command line that is wrong, or none in half of the cases."""
    return st.one_of(st.just(""), st.sampled_from(parts))


@st.composite
def words(draw, options):
    chosen = draw(st.lists(st.sampled_from(sorted(options)), max_size=1, unique=True))
    return [word for flag in chosen for word in (flag, draw(options[flag]))]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def call(line: list[str]) -> tuple[int, str]:
    """Run the command line in this process: exit code and standard error."""
    told, argv = io.StringIO(), sys.argv
    sys.argv = ["sidelight", *line]
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(told), pytest.raises(SystemExit) as stop:
            run()
    finally:
        sys.argv = argv
    return int(stop.value.code or 0), told.getvalue()


def check(folder: Path, line: list[str]) -> int:
    """Run a command; it ends with 0 or 2, and 2 comes with one message and without a changed file. Return which."""
    before = contents(folder)
    code, told = call([*line, "--quiet"])
    assert code in (0, 2), f"{line}\n{told}"
    assert "Traceback" not in told
    if code == 2:
        assert contents(folder) == before, line
        messages = [text for text in told.splitlines() if text.startswith(("sidelight: ", "Error: "))]
        messages = [text for text in messages if not text.startswith("sidelight: note: ")]
        assert len(messages) == 1, f"{line}\n{told}"
    return code


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with two finished runs, whose files must outlive every refusal."""
    place = tmp_path_factory.mktemp("properties")
    write_sample("iris", str(place / "iris.csv"))
    for name, k in (("run", "3"), ("run 2", "2")):
        line = [
            "relations",
            str(place / "iris.csv"),
            "--method",
            "pck-means",
            "-k",
            k,
            "--out",
            str(place / name),
            "-q",
        ]
        assert call(line)[0] == 0
    return place


@st.composite
def fitting(draw, job, folder):
    """Draw a job, and in half of the cases a table, an option or a folder that it may not be able to use."""
    wrong = draw(spoiled("table", "option", "out"))
    options = dict(OPTIONS) | ({} if job == "hierarchy" else OF_JOB)
    method = ["--method", draw(st.sampled_from(METHODS[job]))] if job in METHODS else []
    (folder / "t.csv").write_text(draw(messy() if wrong == "table" else tidy()), encoding="utf-8", newline="")
    out = "run" if wrong == "out" else "new"  # the first is full
    odd = draw(words(options)) if wrong == "option" else []
    return [job, str(folder / "t.csv"), *FIRST.get(job, []), *method, *odd, "--out", str(folder / out)]


def assert_both_are_tried(folder, lines, n_lines):
    """Check command lines, and that enough of them work and enough are refused for both claims to be tested."""
    codes = []

    @settings(max_examples=n_lines)
    @given(line=lines)
    def check_line(line):
        try:
            codes.append(check(folder, line))
        finally:
            remove_new(folder)

    check_line()
    assert codes.count(0) >= len(codes) / 5
    assert codes.count(2) >= len(codes) / 10


@pytest.mark.parametrize(
    "job", but_slow(["instances", "bags", "relations", "hierarchy", "sources", "coclusters"], "hierarchy")
)
def test_a_job_works_or_is_refused_and_both_are_tried(job, folder):
    assert_both_are_tried(folder, fitting(job, folder), 12)


@st.composite
def describing(draw, folder):
    (folder / "t.csv").write_text(draw(tables), encoding="utf-8", newline="")
    options = {flag: values for flag, values in OPTIONS.items() if flag != "--seed"}
    return ["describe", str(folder / "t.csv"), *draw(words(options)), "--json"]


def test_describe_works_or_refuses_and_both_are_tried(folder):
    assert_both_are_tried(folder, describing(folder), 25)


NEW = st.sampled_from(["new.csv", "new", "new.parquet"])
TAKEN = st.sampled_from(["iris.csv", "run"])  # there already


@st.composite
def new_flowers(draw):
    """Draw rows of iris, the columns in any order, maybe with a further one."""
    columns = [*draw(st.permutations(FLOWERS)), *draw(st.sampled_from([[], ["extra"], ["label"]]))]
    rows = [[f"{row % 7 + j / 2:.1f}" for j in range(len(columns))] for row in range(draw(st.integers(1, 6)))]
    return [columns, *rows]


@st.composite
def predicting(draw, folder):
    wrong = draw(spoiled("column", "cell", "table", "model", "out"))
    lines = draw(new_flowers())
    if wrong == "column":
        lines = [line[1:] for line in lines]
    if wrong == "cell":
        lines[-1][0] = draw(CELLS)
    text = draw(tables) if wrong == "table" else "\n".join(",".join(line) for line in lines)
    (folder / "t.csv").write_text(text, encoding="utf-8", newline="")
    model = "iris.csv" if wrong == "model" else draw(st.sampled_from(["run", "run/model.sidelight"]))
    out = draw(TAKEN if wrong == "out" else NEW)
    return ["predict", str(folder / model), str(folder / "t.csv"), "--out", str(folder / out)]


@st.composite
def scoring(draw, folder):
    wrong = draw(spoiled("kinds", "table", "option", "out"))
    kinds = draw(st.lists(st.sampled_from(["x", "y", "ø"]), min_size=4, max_size=9))
    lines = ["row,kind", *(f"{row},{'' if wrong == 'kinds' else kind}" for row, kind in enumerate(kinds, start=1))]
    text = draw(tables) if wrong == "table" else "\n".join(lines)
    (folder / "t.csv").write_text(text, encoding="utf-8", newline="")
    asked = [["--truth-column", "nobody"], ["--column", "nobody"], ["--by", "kind"]]
    right = [[], ["--truth-column", "kind"], ["--column", "cluster"], ["--by", "row"]]
    options = draw(st.sampled_from(asked if wrong == "option" else right))
    out = str(folder / draw(TAKEN)) if wrong == "out" else str(folder / "new.csv")
    return ["score", str(folder / "run"), str(folder / "t.csv"), *options, "--out", out]


@st.composite
def comparing(draw, folder):
    wrong = draw(spoiled("runs", "out"))
    odd = st.lists(st.sampled_from(["run", "run 2", "iris.csv", "nothing"]), max_size=3)
    runs = draw(odd if wrong == "runs" else st.permutations(["run", "run 2"]))
    out = draw(TAKEN if wrong == "out" else st.sampled_from(["", "new", "new 2", "new 3"]))
    return ["compare", *(str(folder / name) for name in runs), *(["--out", str(folder / out)] if out else [])]


@st.composite
def running(draw, folder):
    """Draw a run.toml with a word of the good one changed, or none."""
    wrong = draw(spoiled("word", "file", "out"))
    text = (folder / "run" / "run.toml").read_text(encoding="utf-8").replace("../iris.csv", "iris.csv")
    if wrong == "word":
        known = ["seed = 0", "blake2b:", "iris.csv", "relations", "n_clusters", "pck-means", "[options]"]
        text = text.replace(draw(st.sampled_from(known)), draw(st.sampled_from(["seed = -1", "ø", "[", ""])))
    text = text.replace("seed = 0", f"seed = {draw(st.integers(0, 9))}")
    (folder / "t.toml").write_text(text, encoding="utf-8", newline="")
    config = "iris.csv" if wrong == "file" else draw(st.sampled_from(["t.toml", "run"]))
    return ["run", str(folder / config), "--out", str(folder / (draw(TAKEN) if wrong == "out" else "new"))]


@st.composite
def converting(draw, folder):
    wrong = draw(spoiled("table", "option", "out"))
    (folder / "t.csv").write_text(draw(messy() if wrong == "table" else tidy()), encoding="utf-8", newline="")
    fresh = st.sampled_from(["new.csv", "new.parquet", "new.npz", "new.csv.gz"])
    out = draw(st.sampled_from(["new.xlsx", "iris.csv", "run"]) if wrong == "out" else fresh)
    options = {flag: values for flag, values in OPTIONS.items() if flag != "--seed"}
    return ["convert", str(folder / "t.csv"), str(folder / out), *(draw(words(options)) if wrong == "option" else [])]


LINES = {"predict": predicting, "score": scoring, "compare": comparing, "run": running, "convert": converting}


@pytest.mark.parametrize("command", but_slow(sorted(LINES), "score"))
def test_a_command_about_files_works_or_is_refused_and_both_are_tried(command, folder):
    assert_both_are_tried(folder, LINES[command](folder), 20)


def remove_new(folder):
    for path in folder.glob("new*"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
