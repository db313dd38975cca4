"""Files without code: one zip of .npy arrays and a JSON manifest, written whole or not at all.

What is surprising: members are stored, never compressed, so a file can only ever become as large as it already is. A
compressed member, a name we did not choose, an array of objects or a size that does not add up is refused before
anything is allocated. Classes are found by public name through ``resolve``; nothing in the file is executed. The
manifest holds a fingerprint of everything else: a file in which something was changed afterwards is refused. Somebody
who forges the fingerprint too gets a model whose arrays do not fit together, so :func:`read_from` remembers which
estimators came from a file, and their methods name it when they fail.

In the manifest a plain JSON value stands for itself; everything else is an object with one tag: ``array``, ``scalar``,
``objects``, ``sparse``, ``generator``, ``tuple``, ``set``, ``frozenset``, ``dict``, ``float``, ``slice``, ``date``,
``datetime``, ``bytes``, ``object`` (has ``__archive__``) or ``estimator`` (has ``get_params``).
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import platform
import re
import sys
import weakref
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidelight._core.atomic import replacing
from sidelight.errors import InvalidData, InvalidInput, InvalidParameter, UnreadableFile, UnsafeArchive

FORMAT = 1
_MEMBER = re.compile(r"manifest\.json|arrays/[0-9]{1,9}\.npy")
Resolve = Callable[[str], type | None]
READ_FROM: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()  # estimators, and their files


def write(thing: Any, path: str | os.PathLike[str], *, resolve: Resolve, library_version: str) -> None:
    """Write ``thing`` to ``path``; the file appears whole or not at all."""
    encoder = Encoder(resolve)
    content = encoder.encode(thing, where=type(thing).__name__)
    manifest = {
        "format": FORMAT,
        "sidelight": library_version,
        "libraries": _library_versions(),
        "fitted_on": _fitted_on(thing),
        "fingerprint": _fingerprint(content, encoder.arrays),
        "content": content,
    }
    with (
        replacing(_as_path(path, "sidelight.save")) as handle,
        zipfile.ZipFile(handle, "w", zipfile.ZIP_STORED) as archive,
    ):
        archive.writestr("manifest.json", json.dumps(manifest, allow_nan=False, indent=1))
        for number, array in enumerate(encoder.arrays):
            with archive.open(f"arrays/{number}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


def read(path: str | os.PathLike[str], *, resolve: Resolve) -> Any:
    """Read what :func:`write` wrote, or refuse with a message that says what is wrong with the file."""
    path = _as_path(path, "sidelight.load")
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(archive, path)
            manifest = _read_manifest(archive, path)
            arrays = [_read_array(archive, name, path) for name in _array_names(archive)]
        kept = manifest.get("fingerprint")  # files of 0.2.0 and before have none
        if kept is not None and kept != _fingerprint(manifest["content"], arrays):
            raise UnsafeArchive(
                f"{str(path)!r} was changed after sidelight.save wrote it: its fingerprint does not fit what it holds. "
                "Do not trust this file; save the model again."
            )
        return Decoder(arrays, resolve, str(path)).decode(manifest["content"])
    except InvalidInput:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnreadableFile(f"Cannot read the model file {str(path)!r}: {reason}. Check the path.") from error
    except zipfile.BadZipFile as error:
        raise UnsafeArchive(
            f"{str(path)!r} is not a Sidelight model file: it is not a zip archive, or it was cut short ({error}). "
            "Files for sidelight.load are written by sidelight.save."
        ) from error
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        EOFError,
        RecursionError,
        MemoryError,
        NotImplementedError,
        RuntimeError,
        SyntaxError,
        TokenError,
        OverflowError,
    ) as error:
        raise UnsafeArchive(f"{str(path)!r} is damaged: {error!r}. Save the model again.") from error


def read_from(estimator: Any) -> str:
    """Return the file that an estimator was read from and not fitted since; empty for any other."""
    return READ_FROM.get(estimator, "")


def _fingerprint(content: Any, arrays: list[np.ndarray]) -> str:
    """Return a digest of the manifest's content and of every array: kind, shape and bytes."""
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for array in arrays:
        digest.update(f"{array.dtype.str} {array.shape} ".encode())
        if array.size and array.dtype.itemsize:
            digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _as_path(path: Any, who: str) -> Path:
    try:
        if os.fspath(path) and b"\0" not in os.fsencode(path):
            return Path(path)
    except (TypeError, ValueError):  # no path, or a lone surrogate
        pass
    raise InvalidParameter(f"{who} needs a path, text or pathlib.Path. Got {path!r:.80}.")


def _check_members(archive: zipfile.ZipFile, path: Path) -> None:
    total = 0
    for member in archive.infolist():
        if not _MEMBER.fullmatch(member.filename):
            raise UnsafeArchive(
                f"{str(path)!r} holds a member called {member.filename!r}, which sidelight.save never writes. "
                "Do not trust this file."
            )
        if member.compress_type != zipfile.ZIP_STORED:
            raise UnsafeArchive(
                f"{str(path)!r} holds the compressed member {member.filename!r}; sidelight.save never compresses, so "
                "this may be a zip bomb. Do not trust this file."
            )
        total += member.file_size
    size = path.stat().st_size
    if total > size:
        raise UnsafeArchive(f"{str(path)!r} has {size} bytes but claims to hold {total}. Do not trust this file.")


def _read_manifest(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    manifest = json.loads(archive.read("manifest.json"))
    version = manifest["format"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise UnsafeArchive(f"{str(path)!r} has format {version!r}, which sidelight.save never writes. Save it again.")
    if version > FORMAT:
        raise UnsafeArchive(
            f"{str(path)!r} has format {version!r}, written by sidelight {manifest.get('sidelight')!r}; this "
            f"installation reads formats up to {FORMAT}. Upgrade sidelight to read it."
        )
    return dict(manifest)


def _array_names(archive: zipfile.ZipFile) -> list[str]:
    count = len(archive.namelist()) - 1
    return [f"arrays/{number}.npy" for number in range(count)]


def _read_array(archive: zipfile.ZipFile, name: str, path: Path) -> np.ndarray:
    """Read one array; its declared size must equal the bytes that are there, so nothing large is ever allocated."""
    content = archive.read(name)
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise UnsafeArchive(f"{name} in {str(path)!r} has .npy version {version}; expected (1, 0).")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.hasobject or dtype.fields:
        raise UnsafeArchive(f"{name} in {str(path)!r} is an array of {dtype}, which could run code. Refused.")
    count = math.prod(shape)
    if count * dtype.itemsize != len(content) - stream.tell() or (dtype.itemsize == 0 and count):
        raise UnsafeArchive(f"{name} in {str(path)!r} claims shape {shape} of {dtype}, which is not what it holds.")
    array = np.frombuffer(content, dtype=dtype, count=count, offset=stream.tell())
    if not is_text(array):
        raise UnsafeArchive(f"{name} in {str(path)!r} holds texts with characters that do not exist. Save it again.")
    return array.reshape(shape, order="F" if fortran else "C").copy()


def is_text(array: np.ndarray) -> bool:
    """Say whether every character of an array of texts exists; Python crashes on one that does not."""
    if array.dtype.kind != "U" or not array.size or not array.dtype.itemsize:
        return True
    order = array.dtype.byteorder if array.dtype.byteorder in "<>" else "="
    return bool(np.ascontiguousarray(array).reshape(-1).view(f"{order}u4").max() <= sys.maxunicode)


def _library_versions() -> dict[str, str]:
    import numba
    import scipy
    import sklearn

    modules = {"numpy": np, "scipy": scipy, "scikit-learn": sklearn, "numba": numba}
    return {"python": platform.python_version(), **{name: str(m.__version__) for name, m in modules.items()}}


def _fitted_on(thing: Any) -> dict[str, Any] | None:
    """Say which data a model saw, so that a person who finds the file can tell."""
    if not hasattr(thing, "n_features_in_"):
        return None
    names = getattr(thing, "feature_names_in_", None)
    return {
        "features": int(thing.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "fingerprint": getattr(thing, "data_fingerprint_", None),
    }


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
        class_ = self._class(form["estimator"], "get_params")
        params = {key: self.decode(part) for key, part in form["params"].items()}
        try:
            params = without_retired(class_, params)
        except InvalidParameter as error:
            raise UnsafeArchive(f"{self.source!r}: {error} Older versions of Sidelight read the file.") from None
        estimator = class_(**params)
        vars(estimator).update({key: self.decode(part) for key, part in form["fitted"].items()})
        READ_FROM[estimator] = self.source
        return estimator


def without_retired(class_: type, params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters that were written down for a class, without those that it has no more.

    ``RETIRED`` of a class says which these are and the one value that each has always had since.
    """
    retired: dict[str, Any] = getattr(class_, "RETIRED", {})
    for name, value in params.items():
        if name in retired and value != retired[name]:
            raise InvalidParameter(
                f"{class_.__name__} has no parameter {name!r} any more: it is always {retired[name]!r}. "
                f"Got {value!r}; leave it out."
            )
    return {name: value for name, value in params.items() if name not in retired}


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
