"""Importing the judges stays cheap."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_judges_imports_neither_scipy_nor_scikit_learn():
    code = "import sys, sidelight.metrics; print([m for m in ('scipy', 'sklearn', 'numba') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
