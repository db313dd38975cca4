"""The built wheel works in a clean environment without extras, and says what to type when an extra is missing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = """
import numpy as np, sidelight as sl
X = np.random.default_rng(0).normal(size=(40, 3))
model = sl.DiscriminativeClustering(2, random_state=0).fit(X)
sl.save(model, "model.sidelight")
assert (sl.load("model.sidelight").predict(X) == model.labels_).all()
try:
    sl.plot.ClusterScatterDisplay.from_estimator(model, X).plot()
except sl.errors.MissingExtra as error:
    print(error)
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
    assert 'pip install "sidelight[jobs]"' in run(python, "-c", SCRIPT).stdout
    assert "relations" in run(python, "-m", "sidelight", "--help").stdout
    (tmp_path / "table.csv").write_text("a,b\n1,2\n3,4\n")
    refused = run(python, "-m", "sidelight", "relations", "table.csv", "-k", 2, "--out", "out", check=False)
    assert refused.returncode == 2
    assert 'pip install "sidelight[jobs]"' in refused.stderr
