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

from sidelight.cli.app import run
from sidelight.jobs.samples import write_sample

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
METHODS = {"instances": ["coverage", "spectral", "fast-miml"], "bags": ["words", "margin", "medoids"]}


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


def check(folder: Path, line: list[str]) -> None:
    """Run a command; it ends with 0 or 2, and 2 comes with one message and without a changed file."""
    before = contents(folder)
    code, told = call([*line, "--quiet"])
    assert code in (0, 2), f"{line}\n{told}"
    assert "Traceback" not in told
    if code == 2:
        assert contents(folder) == before, line
        messages = [text for text in told.splitlines() if text.startswith(("sidelight: ", "Error: "))]
        messages = [text for text in messages if not text.startswith("sidelight: note: ")]
        assert len(messages) == 1, f"{line}\n{told}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a finished run, whose files must outlive every refusal."""
    place = tmp_path_factory.mktemp("properties")
    write_sample("iris", str(place / "iris.csv"))
    line = ["relations", str(place / "iris.csv"), "-k", "3", "--ignore", "label", "--out", str(place / "run"), "-q"]
    assert call(line)[0] == 0
    return place


@pytest.mark.parametrize("job", ["instances", "bags", "relations", "hierarchy", "sources", "coclusters"])
@settings(max_examples=12)
@given(data=st.data())
def test_a_job_works_or_is_refused(job, folder, data):
    (folder / "t.csv").write_text(data.draw(tables), encoding="utf-8", newline="")
    options = dict(OPTIONS) | ({} if job == "hierarchy" else OF_JOB)
    if job in METHODS:
        options["--method"] = st.sampled_from(METHODS[job])
    out = data.draw(st.sampled_from(["new", "new", "run"]))  # the first is full
    try:
        check(
            folder,
            [job, str(folder / "t.csv"), *FIRST.get(job, []), *data.draw(words(options)), "--out", str(folder / out)],
        )
    finally:
        shutil.rmtree(folder / "new", ignore_errors=True)


@settings(max_examples=25)
@given(table=tables, line=words(OPTIONS))
def test_describe_and_convert_work_or_refuse(folder, table, line):
    (folder / "t.csv").write_text(table, encoding="utf-8", newline="")
    typed = [word for pair in zip(line[::2], line[1::2]) if pair[0] != "--seed" for word in pair]
    check(folder, ["describe", str(folder / "t.csv"), *typed, "--json"])
    check(folder, ["convert", str(folder / "t.csv"), str(folder / "iris.csv"), *typed])  # exists: always refused


@settings(max_examples=25)
@given(table=tables, command=st.sampled_from(["predict", "score", "compare", "run"]))
def test_commands_about_runs_work_or_refuse(folder, table, command):
    path, finished = folder / "t.csv", str(folder / "run")
    path.write_text(table, encoding="utf-8", newline="")
    lines = {
        "predict": ["predict", finished, str(path), "--out", str(folder / "iris.csv")],
        "score": ["score", finished, str(path), "--out", str(folder / "iris.csv")],
        "compare": ["compare", finished, str(path)],
        "run": ["run", str(path), "--out", str(folder / "new")],
    }
    check(folder, lines[command])
    if command != "run":
        check(folder, [*lines[command][:3], *(["--out", str(folder / "placed.csv")] if command == "predict" else [])])
    (folder / "placed.csv").unlink(missing_ok=True)
