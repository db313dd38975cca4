"""Files without code: one zip of .npy arrays and a JSON manifest, written whole or not at all.

What is surprising: members are stored, never compressed, so a file can only ever become as large as it already is. A
compressed member, a name we did not choose, an array of objects or a size that does not add up is refused before
anything is allocated. Classes are found by public name through ``resolve``; nothing in the file is executed.
"""

from __future__ import annotations

import io
import json
import math
import os
import platform
import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from sidelight._core.atomic import replacing
from sidelight._core.encoding import Decoder, Encoder
from sidelight.errors import InvalidInput, InvalidParameter, UnreadableFile, UnsafeArchive

FORMAT = 1
_MEMBER = re.compile(r"manifest\.json|arrays/[0-9]{1,9}\.npy")
Resolve = Callable[[str], type | None]


def write(thing: Any, path: str | os.PathLike[str], *, resolve: Resolve, library_version: str) -> None:
    """Write ``thing`` to ``path``; the file appears whole or not at all."""
    encoder = Encoder(resolve)
    manifest = {
        "format": FORMAT,
        "sidelight": library_version,
        "libraries": _library_versions(),
        "fitted_on": _fitted_on(thing),
        "content": encoder.encode(thing, where=type(thing).__name__),
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
