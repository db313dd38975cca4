"""The examples in the docstrings of the judges run as printed, and importing Sidelight stays cheap."""

from __future__ import annotations

import doctest
import subprocess
import sys

import pytest

from sidelight.metrics import agreement, discovery, information, multilabel, trees


@pytest.mark.parametrize("module", [agreement, discovery, information, multilabel, trees], ids=lambda m: m.__name__)
def test_docstring_examples(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_importing_the_judges_imports_neither_scipy_nor_scikit_learn():
    code = "import sys, sidelight.metrics; print([m for m in ('scipy', 'sklearn', 'numba') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
