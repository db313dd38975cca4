"""Python values to JSON and back, arrays set aside; only values that carry no code.

A plain JSON value stands for itself; everything else is an object with one tag: ``array``, ``scalar``, ``objects``,
``sparse``, ``generator``, ``tuple``, ``set``, ``frozenset``, ``dict``, ``float``, ``slice``, ``date``,
``datetime``, ``bytes``, ``object`` (has ``__archive__``) or ``estimator`` (has ``get_params``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidelight.errors import InvalidData, UnsafeArchive

Resolve = Callable[[str], type | None]
_BITS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")  # NumPy's own bit generators; nothing else is made
_SPARSE = {"csr": sp.csr_array, "csc": sp.csc_array}


class Encoder:
    """Collects arrays in ``arrays`` while it turns values into JSON."""

    def __init__(self, resolve: Resolve) -> None:
        self.resolve = resolve
        self.arrays: list[np.ndarray] = []

    def encode(self, value: Any, where: str) -> Any:
        """Return the JSON form of ``value``; ``where`` names it in the message when it has none."""
        if value is None or isinstance(value, (bool, str)) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            return {"scalar": self._keep(np.asarray(value), where)}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if sp.issparse(value):
            return self._sparse(value, where)
        if isinstance(value, (list, tuple, set, frozenset)):
            items = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
            encoded = [self.encode(item, f"{where}[{i}]") for i, item in enumerate(items)]
            return encoded if isinstance(value, list) else {type(value).__name__: encoded}
        if isinstance(value, dict):
            return {
                "dict": [[self.encode(k, f"{where} key"), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()]
            }
        if type(value) in (date, datetime):
            return {type(value).__name__: value.isoformat()}
        if type(value) is bytes:
            return {"bytes": value.hex()}
        if isinstance(value, np.random.Generator):
            return self._generator(value, where)
        if isinstance(value, slice):
            return {"slice": [self.encode(part, where) for part in (value.start, value.stop, value.step)]}
        return self._object(value, where)

    def _keep(self, array: np.ndarray, where: str) -> int:
        if array.dtype.hasobject or array.dtype.fields:
            raise _refused(array, where)
        self.arrays.append(np.ascontiguousarray(array) if array.ndim else array)
        return len(self.arrays) - 1

    def _array(self, array: np.ndarray, where: str) -> Any:
        if array.dtype != object:
            return {"array": self._keep(array, where)}
        items = [self.encode(item, f"{where}[{i}]") for i, item in enumerate(array.ravel().tolist())]
        return {"objects": items, "shape": list(array.shape)}

    def _sparse(self, matrix: Any, where: str) -> Any:
        if matrix.format not in _SPARSE:
            matrix = matrix.tocsr()
        parts = [self._keep(part, where) for part in (matrix.data, matrix.indices, matrix.indptr)]
        return {"sparse": matrix.format, "shape": list(matrix.shape), "parts": parts}

    def _generator(self, generator: np.random.Generator, where: str) -> Any:
        """Keep the state of a generator, so that what draws from it can go on where it stopped."""
        bits = generator.bit_generator
        if type(bits).__name__ not in _BITS:
            raise _refused(generator, where)
        return {"generator": [type(bits).__name__, self.encode(dict(bits.state), where)]}

    def _object(self, value: Any, where: str) -> Any:
        name = type(value).__name__
        if self.resolve(name) is not type(value):
            raise _refused(value, where)
        if hasattr(value, "__archive__"):
            state = {key: self.encode(part, f"{where}.{key}") for key, part in value.__archive__().items()}
            return {"object": name, "state": state}
        if not hasattr(value, "get_params"):
            raise _refused(value, where)
        params = value.get_params(deep=False)
        fitted = {key: part for key, part in vars(value).items() if key not in params}
        return {
            "estimator": name,
            "params": {key: self.encode(part, f"{where}.{key}") for key, part in params.items()},
            "fitted": {key: self.encode(part, f"{where}.{key}") for key, part in fitted.items()},
        }


class Decoder:
    """Turns the JSON of :class:`Encoder` back into values."""

    def __init__(self, arrays: list[np.ndarray], resolve: Resolve, source: str) -> None:
        self.arrays, self.resolve, self.source = arrays, resolve, source

    def decode(self, form: Any) -> Any:
        """Return the value that ``form`` stands for."""
        if isinstance(form, list):
            return [self.decode(item) for item in form]
        if not isinstance(form, dict):
            return form
        if "estimator" in form:
            return self._estimator(form)
        if "object" in form:
            cls: Any = self._class(form["object"], "__unarchive__")
            return cls.__unarchive__({key: self.decode(part) for key, part in form["state"].items()})
        if "sparse" in form:
            data, indices, indptr = (self.arrays[number] for number in form["parts"])
            matrix = _SPARSE[form["sparse"]]((data, indices, indptr), shape=tuple(form["shape"]))
            matrix.check_format(full_check=True)
            return matrix
        if "objects" in form:
            array = np.empty(len(form["objects"]), dtype=object)
            array[:] = [self.decode(item) for item in form["objects"]]
            return array.reshape(form["shape"])
        (tag, content), *rest = form.items()
        if rest or tag not in _SIMPLE:
            raise UnsafeArchive(f"{self.source!r} holds something this version does not know: {list(form)}.")
        return _SIMPLE[tag](self, content)

    def _class(self, name: str, ability: str) -> type:
        class_ = self.resolve(name)
        if class_ is None or not hasattr(class_, ability):
            raise UnsafeArchive(
                f"{self.source!r} asks for a class called {name!r}, which is not a public class of Sidelight. "
                "Upgrade sidelight if the file comes from a newer version; otherwise do not trust it."
            )
        return class_

    def _estimator(self, form: dict[str, Any]) -> Any:
        estimator = self._class(form["estimator"], "get_params")(
            **{key: self.decode(part) for key, part in form["params"].items()}
        )
        vars(estimator).update({key: self.decode(part) for key, part in form["fitted"].items()})
        return estimator


def _generator(decoder: Decoder, content: Any) -> np.random.Generator:
    name, state = content
    if name not in _BITS:
        raise UnsafeArchive(f"{decoder.source!r} holds a random generator of the unknown kind {name!r}.")
    bits = getattr(np.random, name)()
    bits.state = decoder.decode(state)
    return np.random.Generator(bits)


_SIMPLE: dict[str, Callable[[Decoder, Any], Any]] = {
    "array": lambda d, number: d.arrays[number],
    "scalar": lambda d, number: d.arrays[number][()],
    "float": lambda d, text: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text],
    "tuple": lambda d, items: tuple(d.decode(items)),
    "set": lambda d, items: set(d.decode(items)),
    "frozenset": lambda d, items: frozenset(d.decode(items)),
    "dict": lambda d, pairs: {d.decode(key): d.decode(value) for key, value in pairs},
    "date": lambda d, text: date.fromisoformat(text),
    "datetime": lambda d, text: datetime.fromisoformat(text),
    "bytes": lambda d, text: bytes.fromhex(text),
    "generator": _generator,
    "slice": lambda d, parts: slice(*d.decode(parts)),
}


def _refused(value: Any, where: str) -> InvalidData:
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        advice = "Give random_state as an int before saving."
    elif callable(value):
        advice = "A function cannot be stored without storing code; use a named option instead, or None before saving."
    else:
        advice = (
            "Only numbers, strings, dates, arrays, containers of these and Sidelight's own public objects can be saved."
        )
    return InvalidData(f"Cannot save {where}: it is {value!r:.80}, a {type(value).__name__}. {advice}")
