"""Tensors of a PyTorch file without PyTorch: strides are obeyed, nothing is run, what is tampered with is refused."""

from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile
from collections import OrderedDict

import numpy as np
import pytest

from sidelight.errors import UnreadableFile
from sidelight.files.cards.torch_file import read_tensors

TABLE = {"row": ((2, 3), (3, 1)), "column": ((2, 3), (1, 2)), "part": ((2,), (2,))}
NUMBERS = np.arange(6, dtype=np.float32)


class FloatStorage:
    """Stands for torch.FloatStorage in the pickle."""


class Name:
    """Writes a name of another module into a pickle."""

    def __init__(self, module, name, args):
        self.module, self.name, self.args = module, name, args

    def __reduce__(self):
        function = type(self.name, (), {})
        function.__module__, function.__qualname__ = self.module, self.name
        return (_Global(self.module, self.name), self.args)


class _Global:
    def __init__(self, module, name):
        self.module, self.name = module, name

    def __call__(self, *args):
        raise AssertionError("written, never called")


class Writer(pickle._Pickler):
    """Writes names as they are said, and storages as PyTorch does."""

    dispatch = dict(pickle._Pickler.dispatch)

    def persistent_id(self, thing):
        if isinstance(thing, np.ndarray):
            return ("storage", _Global("torch", "FloatStorage"), "0", "cpu", thing.size)
        return None

    def save(self, thing, save_persistent_id=True):
        if isinstance(thing, _Global):
            self.write(pickle.GLOBAL + f"{thing.module}\n{thing.name}\n".encode())
            return
        super().save(thing, save_persistent_id)


def pickled(table):
    out = io.BytesIO()
    Writer(out, protocol=2).dump(table)
    return out.getvalue()


def tensor(shape, strides, offset=0):
    return Name("torch._utils", "_rebuild_tensor_v2", (NUMBERS, offset, shape, strides, False, OrderedDict()))


def write(path, table, numbers=NUMBERS):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", pickled(table))
        archive.writestr("model/data/0", numbers.tobytes())
    return path


def test_strides_say_where_numbers_lie(tmp_path):
    path = write(tmp_path / "w.pth", {name: tensor(*how) for name, how in TABLE.items()})
    got = read_tensors(path)
    np.testing.assert_array_equal(got["row"], [[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(got["column"], [[0, 2, 4], [1, 3, 5]])
    np.testing.assert_array_equal(got["part"], [0, 2])
    assert got["column"].flags.c_contiguous


def test_the_older_kind_of_file(tmp_path):
    table = {name: tensor(*how) for name, how in TABLE.items()}
    parts = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
    content = (
        b"".join(pickle.dumps(one, protocol=2) for one in parts) + pickled(table) + pickle.dumps(["0"], protocol=2)
    )
    path = tmp_path / "w.pth"
    path.write_bytes(content + struct.pack("<q", 6) + NUMBERS.tobytes())
    np.testing.assert_array_equal(read_tensors(path)["column"], [[0, 2, 4], [1, 3, 5]])


_OUTSIDE = [
    ((7,), (1,), 0), ((2, 3), (3, 2), 0), ((6,), (1,), 1), ((6,), (-1,), 5), ((1000,), (0,), 0), ((6,), (1, 1), 0),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "strides", "offset"), _OUTSIDE)
def test_a_tensor_never_reaches_outside_its_numbers(tmp_path, shape, strides, offset):
    path = write(tmp_path / "w.pth", {"a": tensor(shape, strides, offset)})
    with pytest.raises(UnreadableFile, match="no file of tensors"):
        read_tensors(path)


@pytest.mark.parametrize(
    ("module", "name"), [("os", "system"), ("builtins", "eval"), ("torch", "load"), ("numpy", "load")]
)
def test_nothing_but_tensors_is_made(tmp_path, module, name):
    path = write(tmp_path / "w.pth", {"a": Name(module, name, ("touch " + str(tmp_path / "ran"),))})
    with pytest.raises(UnreadableFile, match=f"{module}.{name}"):
        read_tensors(path)
    assert not os.path.exists(tmp_path / "ran")


def test_files_that_were_cut_or_changed(tmp_path):
    path = write(tmp_path / "w.pth", {name: tensor(*how) for name, how in TABLE.items()})
    content = path.read_bytes()
    generator = np.random.default_rng(0)
    for k in range(60):
        changed = bytearray(content[: len(content) if k % 2 else generator.integers(1, len(content))])
        changed[generator.integers(len(changed))] ^= 1 << int(generator.integers(8))
        path.write_bytes(bytes(changed))
        try:
            got = read_tensors(path)
        except UnreadableFile:
            continue
        assert all(isinstance(one, np.ndarray) for one in got.values())
    path.write_bytes(b"")
    with pytest.raises(UnreadableFile):
        read_tensors(path)
