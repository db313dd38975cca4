"""Networks that run: ONNX and TFLite files, functions of the user's own, and models of other libraries.

A network takes pieces (a picture as RGB bytes, a window of samples, a text) and gives for each what its outputs say:
maps of shape (numbers, height, width), or plain numbers. A model file is data from a stranger: it is looked into before
a runtime loads it, files that it wants beside itself must lie there, operations that are no part of ONNX are refused.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.errors import InvalidData, InvalidParameter, SidelightError, UnreadableFile, nearest
from sidelight.files.cards.card import Card
from sidelight.files.cards.choosing import LARGEST, check_installed, weights_of, with_checksum
from sidelight.files.cards.onnx_bytes import look_into, with_outputs

Floats = NDArray[np.float32]
Outputs = Mapping[str, Floats]
Network = Callable[[Sequence[Any]], list[Outputs]]
_DOMAINS = {"", "ai.onnx", "ai.onnx.ml", "com.microsoft"}  # operations that come with the runtime
_MOST_NUMBERS = 100_000  # that describe one piece


@lru_cache(maxsize=2)
def _opened(card: Card) -> Network:
    check_installed(card)
    return _OPENERS[card.runtime](card)


def network_of(card: Card) -> Network:
    """Return the network of a card, one a process; weights that changed are refused by name."""
    return _opened(with_checksum(card))


def refused(path: Path, why: object) -> UnreadableFile:
    """Say that a model file cannot be used."""
    return UnreadableFile(f"{path}: no model that can be run ({why}).".replace("\n", " ")[:600])


def _onnx(card: Card) -> Network:
    import onnxruntime

    path = weights_of(card)
    content = _looked_into(path, card)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # files are described in processes
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = False  # it grows with every new size of picture
    with _inside(path.parent):
        try:
            session = onnxruntime.InferenceSession(  # a second try would be announced on the user's terminal
                content, options, providers=["CPUExecutionProvider"], enable_fallback=0
            )
            wanted = list(card.outputs) or [one.name for one in session.get_outputs()]  # names may be no text
            entries = [(one.name, one.shape) for one in session.get_inputs()]
        except Exception as error:  # the runtime has its own errors for everything
            raise refused(path, error) from None
    if len(entries) != 1:
        raise refused(path, f"it has {len(entries)} inputs, and a card feeds one")
    name, shape = entries[0]

    def run(pieces: Sequence[Any]) -> list[Outputs]:
        out: list[Outputs] = []
        for piece in pieces:
            values = prepared(piece, card, shape)
            try:
                made = session.run(wanted, {name: values})
            except Exception as error:  # the same
                raise InvalidData(
                    f"{card.name} cannot take {card.kind} of shape {values.shape}: it expects {shape} ({error!s:.200})."
                ) from None
            out.append({key: _one(value, card) for key, value in zip(wanted, made)})
        return out

    return run


def _looked_into(path: Path, card: Card) -> bytes | str:
    """Return the bytes of an ONNX model whose wanted layers are outputs, once it was found harmless."""
    if path.suffix == ".pth":
        from sidelight.files.cards.efficientnet import graph_of

        return graph_of(path)
    content = path.read_bytes()
    try:
        found = look_into(content)
    except (ValueError, RecursionError, MemoryError, UnicodeDecodeError) as error:
        raise refused(path, error) from None
    strange = found.domains - _DOMAINS - found.own_functions
    if strange:
        raise refused(path, f"it asks for operations of {sorted(strange)[0]!r:.60}, which are no part of ONNX")
    size = len(content)
    home = os.path.realpath(path.parent)
    for name in found.external:
        place = os.path.realpath(os.path.join(home, name))
        if not name or os.path.isabs(name) or not place.startswith(home + os.sep) or not os.path.isfile(place):
            raise refused(path, f"it wants the file {name!r:.80}, which does not lie beside it")
        size += os.path.getsize(place)
    if size > LARGEST:
        raise refused(path, f"{size:,} bytes of weights are more than are read")
    unknown = [name for name in card.outputs if name not in found.outputs and name not in found.made]
    if unknown:
        raise InvalidParameter(
            f"{path} has no output or layer {unknown[0]!r:.80}. {nearest(unknown[0], [*found.outputs, *found.made])}"
        )
    inner = [name for name in card.outputs if name not in found.outputs]
    if found.external:
        if inner:
            raise refused(path, "inner layers of a model that keeps its weights in files of their own")
        return str(path)
    return with_outputs(content, inner) if inner else content


@contextmanager
def _inside(_: Path) -> Any:
    """Let a runtime say nothing while it loads: it writes to the screen from below Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        saved = os.dup(2)
        try:
            with open(os.devnull, "wb") as nothing:
                os.dup2(nothing.fileno(), 2)
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)


def _tflite(card: Card) -> Network:
    from ai_edge_litert.interpreter import Interpreter

    path = weights_of(card)
    with path.open("rb") as file:
        begins = file.read(16)
    if b"TFL3" not in begins:
        raise refused(path, "it does not begin as such files do")
    with _inside(path.parent):
        try:
            model = Interpreter(str(path), num_threads=1, experimental_preserve_all_tensors=bool(card.outputs))
            model.allocate_tensors()
            entries = model.get_input_details()
            known = {one["name"]: one["index"] for one in reversed(model.get_tensor_details())}
            final = {one["name"]: one["index"] for one in model.get_output_details()}
        except Exception as error:  # ValueError, RuntimeError, ... whatever the file makes of it
            raise refused(path, error) from None
    unknown = [name for name in card.outputs if name not in known]
    if unknown:
        raise InvalidParameter(f"{path} has no output or layer {unknown[0]!r:.80}. {nearest(unknown[0], known)}")
    if len(entries) != 1:
        raise refused(path, f"it has {len(entries)} inputs, and a card feeds one")
    wanted = {name: known[name] for name in card.outputs} or final
    entry, shape = entries[0]["index"], [int(n) for n in entries[0]["shape"]]

    def run(pieces: Sequence[Any]) -> list[Outputs]:
        out: list[Outputs] = []
        for piece in pieces:
            values = prepared(piece, card, shape)
            try:
                with _inside(path.parent):
                    model.set_tensor(entry, values)
                    model.invoke()
                    made = {name: np.array(model.get_tensor(index)) for name, index in wanted.items()}
            except Exception as error:  # the same
                raise InvalidData(
                    f"{card.name} cannot take {card.kind} of shape {values.shape}: it expects {shape} ({error!s:.200})."
                ) from None
            out.append({name: _one(value, card) for name, value in made.items()})
        return out

    return run


def prepared(piece: Any, card: Card, shape: Sequence[Any]) -> Floats:
    """Return a piece as a network takes it: a batch of one.

    Parameters
    ----------
    piece : ndarray
        A picture (height, width, 3), or samples.
    card : Card
        What the network takes.
    shape : sequence
        What the file says it takes; sizes that are fixed there are obeyed.
    """
    if card.kind == "sounds":
        values = np.zeros(round(card.input.window * card.input.rate), np.float32)
        values[: min(len(values), len(piece))] = piece[: len(values)]
        return values[None]
    if card.kind == "texts":
        raise InvalidParameter(f"{card.name}: a model file takes numbers, not texts. Use a function, module:function.")
    height, width = _size(piece.shape, card, shape)
    pixels: Any = resized(piece, height, width).astype(np.float32)
    pixels = (pixels - np.asarray(card.input.mean, np.float32)) / np.asarray(card.input.scale, np.float32)
    if card.input.colours == "bgr":
        pixels = pixels[..., ::-1]
    return np.ascontiguousarray((pixels.transpose(2, 0, 1) if _layout(card, shape) == "nchw" else pixels)[None])


def _layout(card: Card, shape: Sequence[Any]) -> str:
    if len(shape) == 4 and 3 in (shape[1], shape[3]):
        return "nchw" if shape[1] == 3 else "nhwc"
    return card.input.layout


def _size(given: Sequence[int], card: Card, shape: Sequence[Any]) -> tuple[int, int]:
    """Return height and width: what the file fixes, else the longer side of the card, both multiples of its stride."""
    if len(shape) == 4:
        fixed = shape[2:4] if _layout(card, shape) == "nchw" else shape[1:3]
        if all(isinstance(n, int) and n > 0 for n in fixed):
            return int(fixed[0]), int(fixed[1])
    scale = card.input.side / max(given[0], given[1])
    step = card.input.multiple
    height, width = (max(step, round(n * scale / step) * step) for n in given[:2])
    return height, width


def resized(pixels: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    """Return a picture in another size."""
    from PIL import Image

    if pixels.shape[:2] == (height, width):
        return pixels
    return np.asarray(Image.fromarray(pixels).resize((width, height), Image.Resampling.BICUBIC))


def _one(value: Any, card: Card) -> Floats:
    """Return what one output says of one piece: (numbers, height, width), or (numbers,)."""
    array: Any = np.asarray(value, dtype=np.float32)
    if array.ndim and array.shape[0] == 1:
        array = array[0]
    if array.ndim == 3 and card.runtime == "tflite":
        array = array.transpose(2, 0, 1)
    if array.ndim == 2:  # tokens, or frames: their mean
        array = array.mean(axis=0, dtype=np.float32)
    if array.ndim not in (1, 3) or not 0 < array.shape[0] <= _MOST_NUMBERS:
        raise InvalidData(
            f"{card.name} gives an output of shape {np.shape(value)} for one piece: expected numbers, or maps of them. "
            "Name other outputs in a card."
        )
    return np.asarray(array, dtype=np.float32)


def function_named(name: str, what: str) -> Callable[[Any], Any]:
    """Find the user's own function by ``module:function``.

    Parameters
    ----------
    name : str
        As it was said.
    what : str
        What the function is, for messages.
    """
    from importlib import import_module

    module, mark, function = name.partition(":")
    try:
        found = getattr(import_module(module), function) if mark else None
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidParameter(f"The {what} {name!r} cannot be found ({error}).") from None
    if not callable(found):
        raise InvalidParameter(f"The {what} is named module:function. Got {name!r}.")
    called: Callable[[Any], Any] = found
    return called


def _function(card: Card) -> Network:
    function = function_named(card.source, "function")

    def run(pieces: Sequence[Any]) -> list[Outputs]:
        return [{"": _one(np.asarray(function(piece), np.float32), card)} for piece in pieces]

    return run


def _adaptor(card: Card) -> Network:
    from sidelight.files.cards import adaptors

    try:
        with _inside(Path()):
            load = adaptors.LOADERS[card.runtime](card.source)
    except SidelightError:
        raise
    except Exception as error:  # no network, no such model, another version: every library has its own errors
        raise UnreadableFile(
            f"The model {card.source!r} of {card.runtime} is not in its cache and cannot be fetched "
            f"({type(error).__name__}: {error!s:.200}). Fetch it once where there is a network, or name a folder."
        ) from None
    return lambda pieces: [{"": _one(one, card)} for one in load(pieces)]


_OPENERS: Mapping[str, Callable[[Card], Network]] = {
    "onnx": _onnx,
    "tflite": _tflite,
    "function": _function,
    "sentence-transformers": _adaptor,
    "fastembed": _adaptor,
    "timm": _adaptor,
    "open-clip": _adaptor,
}
