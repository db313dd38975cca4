"""Parameter checks that speak scikit-learn's sentence, and the door from ``random_state`` to a generator."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

import numpy as np

from sidelight.errors import InvalidParameter, nearest

# Is it sparse? Asked without scipy.sparse, whose import takes longer than reading a small table.


def is_sparse(X: Any) -> bool:
    """Say whether X is a sparse matrix or array of scipy: where scipy.sparse was not imported, nothing is."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def settled_csr(X: Any) -> Any:
    """Return sparse rows as every loop can read them: CSR, columns in order and once, native and writable numbers.

    The same object where it is so already; anything that is not sparse comes back as it came. Cells that are given
    twice are their sum, as scipy has it.
    """
    if not is_sparse(X) or X.ndim != 2:
        return X
    X = X if X.format == "csr" else X.tocsr()
    arrays = X.data, X.indices, X.indptr
    data = X.data if X.data.dtype.isnative else X.data.astype(X.data.dtype.newbyteorder("="))
    small = max(*X.shape, len(X.data)) < 2**31
    indices, indptr = (a.astype(np.int32, copy=False) if small else a for a in arrays[1:])
    parts = [part if part.flags.carray else np.array(part) for part in (data, indices, indptr)]
    is_plain = all(part is array for part, array in zip(parts, arrays))
    if is_plain and X.has_canonical_format:
        return X
    settled = type(X)(tuple(parts), shape=X.shape, copy=not X.has_canonical_format)
    settled.sum_duplicates()
    return settled


def check_number(
    owner: object,
    name: str,
    value: Any,
    *,
    integer: bool = False,
    low: float = -np.inf,
    high: float = np.inf,
    open_low: bool = False,
    open_high: bool = False,
    none: bool = False,
    advice: str = "",
) -> None:
    """Raise unless ``value`` is a number inside the interval from ``low`` to ``high``.

    Parameters
    ----------
    owner : object or str
        Whose parameter it is; an instance is named by its class.
    name, value : str, object
        The parameter and what came.
    integer : bool
        Only whole numbers are accepted.
    low, high, open_low, open_high : float, bool
        The interval; open ends are excluded. Infinite values are never accepted.
    none : bool
        None is accepted too.
    advice : str
        What to do next, when the interval alone does not say it.
    """
    if none and value is None:
        return
    kind = numbers.Integral if integer else numbers.Real
    is_number = isinstance(value, kind) and not isinstance(value, (bool, np.bool_))
    inside = is_number and _is_finite(value) and low <= value <= high
    inside = inside and not (open_low and value == low) and not (open_high and value == high)
    if inside:
        return
    left = "(" if open_low or low == -np.inf else "["
    right = ")" if open_high or high == np.inf else "]"
    noun = "an int" if integer else "a float"
    wanted = f"{noun} in the range {left}{_bound(low)}, {_bound(high)}{right}" + (" or None" if none else "")
    _raise(owner, name, value, wanted, advice)


def check_choice(owner: object, name: str, value: Any, choices: Collection[Any], *, advice: str = "") -> None:
    """Raise unless ``value`` is one of ``choices``; the message suggests the nearest one."""
    if any(value is c or (type(value) is type(c) and value == c) for c in choices):
        return
    if isinstance(value, str) and not advice:
        advice = nearest(value, [c for c in choices if isinstance(c, str)])
    _raise(owner, name, value, "one of " + ", ".join(repr(c) for c in choices), advice)


def as_sequence(owner: object, name: str, value: Any, wanted: str = "a sequence") -> list[Any]:
    """Return ``value`` as a list; a text, a mapping or a single value is refused.

    Parameters
    ----------
    owner : object or str
        Whose parameter it is; an instance is named by its class.
    name, value : str, object
        The parameter and what came.
    wanted : str
        What it should be, in words.
    """
    if isinstance(value, (str, bytes, Mapping)) or (isinstance(value, np.ndarray) and not value.ndim):
        _raise(owner, name, value, wanted, "")
    try:
        return list(value)
    except TypeError:
        _raise(owner, name, value, wanted, "")


def check_flag(owner: object, name: str, value: Any) -> None:
    """Raise unless ``value`` is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        _raise(owner, name, value, "True or False", "")


def check_n_clusters(owner: object, n_clusters: Any, n_rows: int, *, name: str = "n_clusters", low: int = 1) -> None:
    """Raise unless there can be that many clusters of ``n_rows`` rows."""
    check_number(owner, name, n_clusters, integer=True, low=low)
    if n_clusters > n_rows:
        raise InvalidParameter(
            f"{_named(owner)} was asked for {name}={n_clusters} clusters but got n_samples={n_rows} rows. "
            f"Ask for at most {n_rows} clusters, or bring more rows."
        )


def check_estimator(owner: object, name: str, value: Any) -> None:
    """Raise unless ``value`` is an estimator: an instance with ``fit`` and ``get_params``."""
    if isinstance(value, type) or not hasattr(value, "fit") or not hasattr(value, "get_params"):
        advice = f"Call it: {value.__name__}()." if isinstance(value, type) else ""
        _raise(owner, name, value, "an estimator", advice)


def as_generator(random_state: Any) -> np.random.Generator:
    """Turn scikit-learn's ``random_state`` (None, int, RandomState or Generator) into a Generator.

    An int always gives the same generator; a RandomState or Generator moves on, as scikit-learn's users expect.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if random_state is None or (isinstance(random_state, numbers.Integral) and int(random_state) >= 0):
        return np.random.default_rng(None if random_state is None else int(random_state))
    raise InvalidParameter(
        "The 'random_state' parameter must be None, an int >= 0, a numpy.random.RandomState or a "
        f"numpy.random.Generator. Got {random_state!r} instead."
    )


def as_seed(generator: np.random.Generator) -> int:
    """Draw an int seed for a library that wants scikit-learn's kind of ``random_state``."""
    return int(generator.integers(2**31))


def _raise(owner: object, name: str, value: Any, wanted: str, advice: str) -> NoReturn:
    sentence = f"The {name!r} parameter of {_named(owner)} must be {wanted}. Got {value!r:.200} instead."
    raise InvalidParameter(f"{sentence} {advice}".rstrip())


def _is_finite(value: Any) -> bool:
    """Say whether a number is finite; a whole number must also fit into 64 bits."""
    return abs(int(value)) < 2**63 if isinstance(value, numbers.Integral) else math.isfinite(value)


def _named(owner: object) -> str:
    return owner if isinstance(owner, str) else type(owner).__name__


def _bound(value: float) -> str:
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    return str(int(value)) if float(value).is_integer() else str(value)
