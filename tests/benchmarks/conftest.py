"""Benchmarks that are packages of their own can be imported; their files go by the names that they use themselves."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
