"""The shop window: quick to import, complete, and honest about its walls."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sidelight as sl

ROOT = Path(__file__).parents[1]
HEAVY = ("sklearn", "scipy", "numba", "matplotlib", "polars")


@pytest.mark.parametrize(
    "code", ["import sidelight", "from sidelight.app.cli.app import app; app.main(['--help'], standalone_mode=False)"]
)
def test_import_and_help_load_nothing_heavy(code):
    watch = f"{code}\nimport sys; print('LOADED', sorted(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", watch], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED []"


def test_every_public_name_can_be_loaded():
    for name in sl.__all__:
        assert getattr(sl, name) is not None


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(AttributeError, match="Did you mean 'DiscriminativeClustering'"):
        sl.DiscriminativeClusterin  # noqa: B018 - the access is the test


def test_progress_stays_a_function_after_its_module_is_imported():
    import sidelight.progress  # noqa: F401 - importing a submodule binds its name in the package

    assert callable(sl.progress)


def test_the_contract_holds_and_catches_a_planted_violation(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    lint = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    if not Path(lint[0]).exists():
        pytest.skip("import-linter is not installed in this environment")
    environment = {"PYTHONPATH": str(tmp_path / "src"), "PATH": "/usr/bin:/bin"}
    clean = subprocess.run(lint, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert clean.returncode == 0, clean.stdout
    (tmp_path / "src" / "sidelight" / "_core" / "planted.py").write_text("import sidelight.estimators.relations\n")
    (tmp_path / "src" / "sidelight" / "stranger.py").write_text('"""A room nobody planned."""\n')
    planted = subprocess.run(lint, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert planted.returncode != 0
    assert "sidelight._core is not allowed to import sidelight.estimators" in planted.stdout
    assert "stranger" in planted.stdout


def test_nothing_committed_names_an_address_of_a_registry():
    text = (ROOT / "requirements.lock").read_text()
    assert "://" not in text
    assert not (ROOT / "uv.lock").exists()
