"""Damaged model files: loaded, or refused with one of our messages; never run."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from attack.outcome import judged
from attack.small import write_models
from attack.worker import WORK
from mutations import mutate

COUNT = 3_000


def attack(number: int, folder: Path) -> str:
    """Damage one model file, load it, and use what was loaded."""
    import sidelight as sl

    rng = np.random.default_rng([2, number])
    known = sources()
    source = known[int(rng.integers(len(known)))]
    target = folder / source.name
    target.write_bytes(mutate(source.read_bytes(), int(rng.integers(2**32)), ".zip"))
    verdict = judged(lambda: sl.load(target))
    return verdict if verdict in ("accepted", "refused") else f"{source.name}: {verdict}"


@cache
def sources() -> list[Path]:
    """Return the undamaged models."""
    folder = WORK / "models"
    return sorted(folder.glob("*.sidelight")) or write_models(folder)
