"""Model files whose arrays were changed by somebody who knows the format: other shapes, kinds, numbers, or none at all.

Every estimator of the laws' registry is fitted, saved, changed and loaded; what was loaded is asked about rows. In most
cases the fingerprint of the file is taken away too, as somebody would who wants the file to be read.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from attack.outcome import judged
from attack.worker import WORK

COUNT = 3_000
_METHODS = ("predict", "predict_proba", "predict_labels", "transform", "decision_function")


def attack(number: int, folder: Path) -> list[str]:
    """Change an array of one model, load the file, and ask what was loaded."""
    import sidelight as sl

    rng = np.random.default_rng([12, number])
    case = cases()[number % len(cases())]
    target = folder / "model.sidelight"
    what = _rewrite(_model_of(case), target, rng)
    verdicts = []

    def load() -> None:
        model = sl.load(target)
        for method in _METHODS:
            ask = getattr(model, method, None)
            if ask is not None:
                verdicts.append(judged(partial(ask, case.rows())))

    verdicts.append(judged(load))
    return [v if v in ("accepted", "refused") else f"{case.name}, {what}: {v}" for v in verdicts]


def _changed(array: np.ndarray, rng: np.random.Generator) -> tuple[str, np.ndarray | None]:
    """Return one way to spoil an array, and the array; None: it is left out."""
    ways: dict[str, Any] = {
        "gone": lambda: None,
        "short": lambda: array[:-1] if array.ndim else array,
        "flat": lambda: array.reshape(-1),
        "an axis more": lambda: array[None],
        "turned": lambda: array.T,
        "empty": lambda: np.zeros(0, array.dtype),
        "text": lambda: np.full(array.shape, "x"),
        "NaN": lambda: np.full(array.shape, np.nan),
        "complex": lambda: np.full(array.shape, 1j),
        "bool": lambda: np.ones(array.shape, bool),
        "huge": lambda: np.full(array.shape, 1e300),
        "negative": lambda: np.full(array.shape, -7),
        "far away": lambda: np.full(array.shape, 2**62),
        "dates": lambda: np.zeros(array.shape, "datetime64[D]"),
        "wider": lambda: np.concatenate([array, array], axis=-1) if array.ndim else np.zeros(3),
        "longer": lambda: np.concatenate([array, array], axis=0) if array.ndim else np.zeros((2, 2)),
    }
    name = str(rng.choice(sorted(ways)))
    return name, ways[name]()


def _rewrite(source: Path, target: Path, rng: np.random.Generator) -> str:
    """Copy a model file with one array changed; say what was done."""
    with zipfile.ZipFile(source) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    names = [name for name in parts if name.startswith("arrays/")]
    manifest = json.loads(parts["manifest.json"])
    name = names[int(rng.integers(len(names)))]
    how, array = _changed(np.load(io.BytesIO(parts[name])), rng)
    what = f"{name} {how}"
    if array is None:
        del parts[name]
    else:
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, np.array(array, order="C"), version=(1, 0), allow_pickle=False)
        parts[name] = buffer.getvalue()
    if rng.random() < 0.8:
        manifest.pop("fingerprint", None)
        parts["manifest.json"] = json.dumps(manifest).encode()
        what += ", no fingerprint"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return what


@cache
def cases() -> list[Any]:
    """Return the estimators that tests/laws is about."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tests.laws.registry import CASES

    return list(CASES)


@cache
def _fits() -> dict[int, Path]:
    return {}


def _model_of(case: Any) -> Path:
    """Return the file of a fitted case; fitted once a process."""
    import sidelight as sl

    number = cases().index(case)
    if number not in _fits():
        WORK.mkdir(parents=True, exist_ok=True)
        path = WORK / f"registry-{number}.sidelight"
        sl.save(case.fit(), path)
        _fits()[number] = path
    return _fits()[number]
