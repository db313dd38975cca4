"""Calls made from the public signatures by hypothesis: odd values in every place, right ones in most others.

One case is a hundred calls. Whatever is public is called: functions, constructors followed by ``fit``, class methods of
data objects, and the methods of fitted estimators, sessions and side information. A call must return, or raise an
error of ours.
"""

from __future__ import annotations

import inspect
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from attack.outcome import judged
from attack.small import labelled_bags, rows

COUNT = 100
EACH = 100
SECONDS = 20
# a fit that is asked for a billion starts or a billion rows does what it was asked for: these are drawn small
_REPEATS = dict.fromkeys(("n_init", "n_resamples", "n_points", "n_sequences", "n_samples", "n_rows", "n_bags"), 100)
_NOT_CALLED = {
    "load",
    "save",
    "read",
    "progress",
    "SidelightError",
    "SidelightWarning",
}  # attacked as files, or no calls


def attack(number: int, folder: Path) -> list[str]:
    """Make a hundred calls."""
    verdicts: list[str] = []

    @seed(number)
    @settings(
        max_examples=EACH,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def calls(data: Any) -> None:
        name = data.draw(st.sampled_from(sorted(targets())))
        call, shown = targets()[name](data)
        verdict = judged(call, SECONDS)
        verdicts.append(verdict if verdict in ("accepted", "refused") else f"{shown[:400]}: {verdict}")

    calls()
    return verdicts


def odd_values() -> st.SearchStrategy[Any]:
    """Values that nobody should pass, and some that somebody might."""
    numbers = st.sampled_from(
        [0, 1, 2, 3, 7, -1, 0.5, 1.5, -0.0, 1e308, 5e-324, 10**12, 2**63, -(2**31), np.int8(3), True]
    )
    strange = st.sampled_from(
        [float("nan"), float("inf"), None, "", "auto", "none", "x" * 50, "\0", b"x", 1j, object, ...]
    )
    arrays = st.sampled_from(
        [
            np.zeros((0, 3)),
            np.zeros((3, 0)),
            np.ones(4),
            np.ones((2, 2, 2)),
            np.full((40, 5), np.nan),
            np.full((40, 5), 1e200),
            np.array(["a", "b"]),
            np.array([None, 1], dtype=object),
            np.array(3.0),
            np.arange(40),
            np.arange(40) % 2,
            np.zeros((40, 5)),
            np.ones((40, 40)),
            sp.csr_array((40, 5)),
            sp.coo_array(np.eye(40)),
            np.ones((40, 5), dtype=bool),
            np.array([], dtype=int),
            np.ones((40, 2), dtype=np.float16),
            np.array(["2020-01-01"], dtype="datetime64[D]"),
        ]
    )
    containers = st.sampled_from(
        [
            [],
            [[]],
            {},
            set(),
            (),
            [1],
            ["a", "b"],
            {"a": 1},
            {"a": {"b"}},
            [[1, 2], [3]],
            [None] * 40,
            range(5),
            {1, 2},
            [0] * 40,
            ["a"] * 40,
            iter([1, 2]),
            {"a": [0], "b": [1]},
            [[0, 1, 1]],
            [(0, 1, 2)],
            [{"a"}] * 40,
        ]
    )
    return st.one_of(numbers, strange, arrays, containers)


@cache
def right_values() -> dict[str, Any]:
    """Values that fit, by the name of the parameter."""
    import sidelight as sl

    generator = np.random.default_rng(0)
    return {
        "X": rows(),
        "bags": labelled_bags(),
        "pairs": sl.Pairs([0, 1, 4], [2, 3, 7], [True, True, False], n_rows=40),
        "triplets": sl.Triplets([0, 1], [2, 3], [5, 6], ["a", "c"], n_rows=40),
        "y": np.arange(40) % 2,
        "y_true": np.arange(40) % 2,
        "y_pred": generator.integers(0, 2, 40),
        "labels_true": np.arange(40) % 2,
        "labels_pred": generator.integers(0, 2, 40),
        "estimator": sl.DiscriminativeClustering(2),
        "n_clusters": 2,
        "k": 2,
        "random_state": 0,
        "seed": 0,
        "max_iter": 3,
        "n_init": 1,
        "ids": [f"b{i // 4}" for i in range(40)],
        "parent": [-1, 0, 0],
        "channels": {"a": [0, 1], "b": [2, 3, 4]},
        "n_samples": 30,
        "n_rows": 30,
    }


@cache
def targets() -> dict[str, Any]:
    """Everything that is public and can be called, by name."""
    import sidelight as sl

    found: dict[str, Any] = {}
    for room, names in ((sl, sl.__all__), (sl.metrics, getattr(sl.metrics, "__all__", dir(sl.metrics)))):
        for name in names:
            thing = getattr(room, name)
            if name in _NOT_CALLED or name.startswith("_") or not callable(thing):
                continue
            found[name] = _caller(name, thing)
            if inspect.isclass(thing):
                if hasattr(thing, "fit"):
                    found[f"{name}.fit"] = _fitter(name, thing)
                for method in _methods(thing) if name in examples() else ():
                    found[f"{name}().{method}"] = _method_caller(name, method)
                for method, maker in inspect.getmembers(thing, inspect.ismethod):
                    if not method.startswith(("_", "set_")):
                        found[f"{name}.{method}"] = _caller(f"{name}.{method}", maker)
    return found


def _caller(name: str, function: Any) -> Any:
    def draw(data: Any) -> tuple[Any, str]:
        arguments = _arguments(data, function, share_odd=0.35)
        return (lambda: function(**arguments)), f"{name}({_shown(arguments)})"

    return draw


def _fitter(name: str, kind: Any) -> Any:
    def draw(data: Any) -> tuple[Any, str]:
        settings_ = _arguments(data, kind, share_odd=0.12)
        sides = _arguments(data, kind.fit, share_odd=0.2, skip=("self",))
        shown = f"{name}({_shown(settings_)}).fit({_shown(sides)})"

        def call() -> None:
            model = kind(**settings_).fit(**sides)
            if "X" in sides and hasattr(model, "predict"):
                model.predict(sides["X"])

        return call, shown

    return draw


@cache
def examples() -> dict[str, Any]:
    """Makers of objects that are ready for use: fitted estimators, a session with answers, side information."""
    import sidelight as sl

    side = right_values()
    made: dict[str, Any] = {
        "ActiveSession": lambda: _begun(sl.ActiveSession(rows(), 2, random_state=0)),
        "Oracle": lambda: sl.Oracle(np.arange(40) % 2),
        "Bags": labelled_bags,
        "Pairs": lambda: side["pairs"],
        "Triplets": lambda: side["triplets"],
        "LabelMatrix": lambda: sl.LabelMatrix(np.eye(40, 3, dtype=int)),
        "CoOccurrence": lambda: sl.CoOccurrence.from_matrix(np.ones((3, 4))),
    }
    for name, kind in ((name, getattr(sl, name)) for name in sl.__all__):
        if inspect.isclass(kind) and hasattr(kind, "fit") and hasattr(kind, "get_params"):
            made[name] = partial(_fitted, kind)
    return made


@cache
def _fitted(kind: Any) -> Any:
    """Fit an estimator with right values; its methods may not change it, so one will do."""
    sides = {
        name: right_values()[name]
        for name in inspect.signature(kind.fit).parameters
        if name in ("X", "bags", "pairs", "triplets")
    }
    if kind.__name__ == "LatentHierarchyClassifier":
        sides["y"] = np.eye(40, 3, dtype=int)
    if "P" in inspect.signature(kind.fit).parameters:
        sides["P"] = np.random.default_rng(0).integers(1, 9, (6, 5))
    settings_ = {name: right_values()[name] for name in inspect.signature(kind).parameters if name in ("estimator",)}
    return kind(**settings_).fit(**sides)


def _begun(session: Any) -> Any:
    session.tell((0, 1), "different")
    session.tell((0, 2), "same")
    return session


def _methods(kind: Any) -> list[str]:
    skipped = ("set_", "get_", "fit", "save", "resume")
    members = inspect.getmembers(kind, callable)
    return [name for name, _ in members if not name.startswith(("_", *skipped)) and not inspect.isclass(_)]


def _method_caller(name: str, method: str) -> Any:
    def draw(data: Any) -> tuple[Any, str]:
        found = getattr(examples()[name](), method, None)
        if found is None:  # of Standardized, where the estimator inside has no such method
            return (lambda: None), f"{name}().{method}"
        arguments = _arguments(data, found, share_odd=0.35)
        return (lambda: found(**arguments)), f"{name}().{method}({_shown(arguments)})"

    return draw


def _arguments(data: Any, function: Any, share_odd: float, skip: tuple[str, ...] = ()) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in skip or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if data.draw(st.floats(0, 1)) < share_odd:
            value = data.draw(odd_values())
            is_long = name in _REPEATS and isinstance(value, (int, float)) and value > _REPEATS[name]
            chosen[name] = right_values().get(name, 3) if is_long else value
        elif name in right_values():
            chosen[name] = right_values()[name]
        elif parameter.default is parameter.empty:
            chosen[name] = data.draw(odd_values())
    return chosen


def _shown(arguments: dict[str, Any]) -> str:
    def short(value: Any) -> str:
        if hasattr(value, "shape") and getattr(value, "size", 0) > 6:
            return f"{type(value).__name__}{value.shape}"
        return repr(value)[:40]

    return ", ".join(f"{name}={short(value)}" for name, value in arguments.items())
