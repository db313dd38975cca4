"""The built wheel works in a clean environment without extras, and says what to type when an extra is missing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
SCRIPT = """
import numpy as np, sidelight as sl
X = np.random.default_rng(0).normal(size=(40, 3))
model = sl.DiscriminativeClustering(2, random_state=0).fit(X)
sl.save(model, "model.sidelight")
assert (sl.load("model.sidelight").predict(X) == model.labels_).all()
sl.plot.ClusterScatterDisplay.from_estimator(model, X).plot()
"""
# Every job, in one process: the libraries are imported once. Packages of extras cannot be found.
JOBS = """
import sys
class NoExtras:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in EXTRAS:
            raise ModuleNotFoundError(name, name=name)
EXTRAS = {"fastapi", "uvicorn", "multipart", "sqlalchemy", "psycopg", "soundfile", "pypdf", "dask", "distributed"}
sys.meta_path.insert(0, NoExtras())
from sidelight.app.cli import main
SAMPLES = {
    "relations": ("iris", "-k", "3"), "instances": ("birds",), "bags": ("birds", "-k", "3", "--starts", "2"),
    "hierarchy": ("label-tree",), "coclusters": ("visits", "-k", "3"),
    "sources": ("people", "-k", "3", *(f"--channel={part}={part}_*" for part in ("face", "upper"))),
}
def sidelight(*words):
    sys.argv = ["sidelight", *words]
    try:
        main()
    except SystemExit as stop:
        assert stop.code == 0, words
for job, (sample, *words) in SAMPLES.items():
    kind = "parquet" if job == "relations" else "csv"
    table = f"{sample}.{kind}"
    sidelight("sample", sample, table, "--overwrite")
    sidelight("describe", table)
    sidelight(job, table, *words, "--out", job, "--quiet")
sidelight("demo", "--only", "relations", "--out", "demo", "--quiet")
"""


def test_the_wheel_works_without_extras(tmp_path):
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        pytest.skip("uv is not installed in this environment")
    source = tmp_path / "source"  # a copy, so that two builds never share a folder
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)

    def run(*command: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(part) for part in command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0 or not check, done.stderr
        return done

    run(uv, "build", "--wheel", "--no-build-isolation", "--python", sys.executable, "--out-dir", tmp_path, source)
    run(uv, "venv", "--python", sys.executable, "clean")
    (wheel,) = tmp_path.glob("*.whl")
    python = tmp_path / "clean" / "bin" / "python"
    run(uv, "pip", "install", "--python", python, "--constraint", ROOT / "requirements.lock", wheel)
    run(python, "-c", SCRIPT)
    run(python, "-m", "sidelight", "sample", "iris", "iris.csv")
    assert "Commands that fit" in run(python, "-m", "sidelight", "describe", "iris.csv").stdout
    refused = run(python, "-m", "sidelight", "studio", check=False)
    assert refused.returncode == 2
    assert 'pip install "sidelight[studio]"' in refused.stderr


def test_every_job_runs_without_extras(tmp_path):
    done = subprocess.run([sys.executable, "-c", JOBS], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Commands that fit") == 6
