"""ONNX files as bytes: written for a network of ours, looked into before a stranger's is loaded.

An ONNX file is a protobuf message: fields of a number and a type, nested. What is needed of that format fits here, so
that neither writing a graph, nor naming an inner layer as an output, nor looking for what a file may not hold takes a
library. The numbers of the fields are those of onnx.proto.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MODEL = {"ir_version": 1, "graph": 7, "opset": 8, "functions": 25}
_GRAPH = {"node": 1, "name": 2, "initializer": 5, "input": 11, "output": 12, "value_info": 13, "sparse": 15}
_FLOAT = 1
_DEEPEST = 20  # graphs inside graphs
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5


def varint(value: int) -> bytes:
    """Return a whole number in base 128; negative ones as 64 bits, as protobuf does."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field_: int, value: int) -> bytes:
    """Return a field that is a whole number."""
    return varint(field_ << 3 | _VARINT) + varint(value)


def block(field_: int, content: bytes | str) -> bytes:
    """Return a field that is a text, bytes or a message."""
    content = content.encode() if isinstance(content, str) else content
    return varint(field_ << 3 | _BYTES) + varint(len(content)) + content


def fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the number and the value of every field of a message; a message that is cut off is a ValueError."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind = key & 7
        if kind == _VARINT:
            value, place = _varint(message, place)
            yield key >> 3, value
            continue
        if kind == _BYTES:
            size, place = _varint(message, place)
        elif kind in (_EIGHT, _FOUR):
            size = 8 if kind == _EIGHT else 4
        else:
            raise ValueError("no message")
        if place + size > len(message):
            raise ValueError("the file ends too early")
        yield key >> 3, message[place : place + size]
        place += size


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(message):
            raise ValueError("the file ends too early")
        byte = message[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    raise ValueError("no message")


@dataclass
class Found:
    """What a model file holds: its inputs and outputs, the domains of its operations, and the files it wants."""

    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    made: set[str] = field(default_factory=set)  # names of all values that operations make
    domains: set[str] = field(default_factory=set)
    own_functions: set[str] = field(default_factory=set)  # domains of functions that the file itself defines
    external: set[str] = field(default_factory=set)


def look_into(content: bytes) -> Found:
    """Say what an ONNX file holds, without loading it.

    Parameters
    ----------
    content : bytes
        The file.
    """
    found = Found()
    n_graphs = 0
    for key, value in fields(memoryview(content)):
        if key == _MODEL["graph"] and isinstance(value, memoryview):
            n_graphs += 1
            _look_into_graph(value, found, 0)
        elif key == _MODEL["functions"] and isinstance(value, memoryview):
            own = dict.fromkeys(_texts(value, 10))
            found.own_functions.update(own or [""])
            for inner, node in fields(value):
                if inner == 7 and isinstance(node, memoryview):
                    _look_into_node(node, found, 1)
    if n_graphs != 1:
        raise ValueError("no model")
    return found


def _look_into_graph(graph: memoryview, found: Found, depth: int) -> None:
    if depth > _DEEPEST:
        raise ValueError("graphs nested too deeply")
    for key, value in fields(graph):
        if not isinstance(value, memoryview):
            continue
        if key == _GRAPH["node"]:
            _look_into_node(value, found, depth)
        elif key == _GRAPH["initializer"]:
            _look_into_tensor(value, found)
        elif key == _GRAPH["sparse"]:
            for _, part in fields(value):
                if isinstance(part, memoryview):
                    _look_into_tensor(part, found)
        elif depth == 0 and key in (_GRAPH["input"], _GRAPH["output"]):
            (found.inputs if key == _GRAPH["input"] else found.outputs).extend(_texts(value, 1))


def _look_into_node(node: memoryview, found: Found, depth: int) -> None:
    domain = ""
    for key, value in fields(node):
        if not isinstance(value, memoryview):
            continue
        if key == 2:
            found.made.add(_text(value))
        elif key == 7:
            domain = _text(value)
        elif key == 5:
            for inner, part in fields(value):
                if not isinstance(part, memoryview):
                    continue
                if inner in (5, 10):
                    _look_into_tensor(part, found)
                elif inner in (6, 11):
                    _look_into_graph(part, found, depth + 1)
                elif inner in (22, 23):
                    for _, tensor in fields(part):
                        if isinstance(tensor, memoryview):
                            _look_into_tensor(tensor, found)
    found.domains.add(domain)


def _look_into_tensor(tensor: memoryview, found: Found) -> None:
    is_outside, place = False, []
    for key, value in fields(tensor):
        if key == 14 and value == 1:
            is_outside = True
        elif key == 13 and isinstance(value, memoryview):
            pair = ["".join(_texts(value, one)) for one in (1, 2)]
            if pair[0] == "location":
                place.append(pair[1])
    if is_outside or place:
        found.external.update(place or [""])


def _text(value: memoryview) -> str:
    return bytes(value).decode("utf-8", "replace")


def _texts(message: memoryview, wanted: int) -> list[str]:
    return [_text(value) for key, value in fields(message) if key == wanted and isinstance(value, memoryview)]


def with_outputs(content: bytes, names: Iterable[str]) -> bytes:
    """Return a model whose inner values of these names are outputs, too."""
    out, seen = [], False
    for key, value in fields(memoryview(content)):
        if key == _MODEL["graph"] and isinstance(value, memoryview) and not seen:
            seen = True
            further = b"".join(block(_GRAPH["output"], block(1, name)) for name in names)
            out.append(block(key, bytes(value) + further))
        elif isinstance(value, memoryview):
            out.append(block(key, bytes(value)))
        else:
            out.append(number(key, value))
    return b"".join(out)


class Graph:
    """A network under construction; :meth:`to_bytes` writes it."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._initializers: list[bytes] = []

    def constant(self, values: Any, name: str) -> str:
        """Add numbers, and return their name."""
        array: NDArray[np.float32] = np.asarray(values, dtype="<f4", order="C")
        shape = b"".join(number(1, n) for n in array.shape)
        self._initializers.append(shape + number(2, _FLOAT) + block(8, name) + block(9, array.tobytes()))
        return name

    def node(self, kind: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Add an operation, and return the name of what it makes."""
        told = b"".join(block(5, _attribute(name, value)) for name, value in attributes.items())
        given = b"".join(block(1, name) for name in inputs)
        self._nodes.append(given + block(2, output) + block(4, kind) + told)
        return output

    def to_bytes(self, input_: Mapping[str, Sequence[int | str]], outputs: Iterable[str], *, opset: int = 13) -> bytes:
        """Return the model; dimensions are numbers, or names where any size will do."""
        graph = b"".join(block(_GRAPH["node"], node) for node in self._nodes) + block(_GRAPH["name"], "network")
        graph += b"".join(block(_GRAPH["initializer"], one) for one in self._initializers)
        graph += b"".join(block(_GRAPH["input"], _value(name, shape)) for name, shape in input_.items())
        graph += b"".join(block(_GRAPH["output"], _value(name, None)) for name in outputs)
        return (
            number(_MODEL["ir_version"], 8) + block(_MODEL["graph"], graph) + block(_MODEL["opset"], number(2, opset))
        )


def _value(name: str, shape: Sequence[int | str] | None) -> bytes:
    dims = b"".join(block(1, number(1, n) if isinstance(n, int) else block(2, n)) for n in shape or ())
    return block(1, name) + block(2, block(1, number(1, _FLOAT) + (b"" if shape is None else block(2, dims))))


def _attribute(name: str, value: Any) -> bytes:
    if isinstance(value, float):
        return block(1, name) + varint(2 << 3 | _FOUR) + struct.pack("<f", value) + number(20, 1)
    if isinstance(value, int):
        return block(1, name) + number(3, value) + number(20, 2)
    if isinstance(value, str):
        return block(1, name) + block(4, value) + number(20, 3)
    return block(1, name) + b"".join(number(8, int(one)) for one in value) + number(20, 7)
