"""What the journeys share: a command as it would be typed."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def sidelight():
    """Run a command and return its exit code and what it says."""

    def run(*words, cwd):
        done = subprocess.run(
            [sys.executable, "-m", "sidelight", *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return run
