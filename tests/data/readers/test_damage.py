"""A hundred damaged files from a seed: a clean result or one of our messages, never anything else."""

from __future__ import annotations

import importlib.util
import io
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io

import sidelight as sl

spec = importlib.util.spec_from_file_location("mutations", Path(__file__).parents[3] / "benchmarks" / "mutations.py")
mutations = importlib.util.module_from_spec(spec)
sys.modules["mutations"] = mutations
spec.loader.exec_module(mutations)


def matlab_cells(X):
    cells = np.empty((3, 1), dtype=object)
    cells[:, 0] = [X[:4], X[4:9], X[9:]]
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, {"bags": cells, "targets": np.eye(3)})
    return buffer.getvalue()


def small_files(folder):
    """One file of each format."""
    X = np.random.default_rng(0).normal(size=(30, 4)).round(3)
    bags = sl.Bags(
        [f"b{i // 3}" for i in range(30)], labels={f"b{k}": {"x"} if k % 2 else {"x", "y"} for k in range(10)}
    )
    data = sl.Dataset(X, tuple("abcd"), bags=bags)
    for ending in (".csv", ".csv.gz", ".parquet", ".npz"):
        data.write(folder / f"small{ending}")
    rows = X.tolist()
    head = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute class {x,y}\n@data\n"
    inner = "@relation r\n@attribute id string\n@attribute bag relational\n@attribute f numeric\n@end bag\n"
    texts = {
        "dense.arff": head + "".join(f"{r[0]},{r[1]},x\n" for r in rows),
        "sparse.arff": head + "".join(f"{{0 {r[0]},2 y}}\n" for r in rows),
        "bags.arff": inner
        + "@attribute l {0,1}\n@data\n"
        + "".join(f"b{i},'{r[0]}\\n{r[1]}',1\n" for i, r in enumerate(rows)),
        "tree.arff": head.replace("{x,y}", "hierarchical 1,1/2,1/2/3,4") + "".join(f"{r[0]},?,1/2@4\n" for r in rows),
        "small.dat": head.replace("a numeric", "a real [-9.0, 9.0]") + "".join(f"{r[0]}, {r[1]}, x\n" for r in rows),
        "small.data": "".join(f"{i // 3},{i},{r[0]},{r[1]},1.\n" for i, r in enumerate(rows)),
        "small.svm": "".join(f"1 1:{r[0]} 3:{r[1]}\n" for r in rows),
        "events.csv": "user,film\n" + "".join(f"u{i % 5},f{i % 3}\n" for i in range(60)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "cells.mat").write_bytes(matlab_cells(X))
    (folder / "images-idx3-ubyte").write_bytes(
        b"\0\0\x08\x03" + np.array([5, 4, 4], ">u4").tobytes() + bytes(range(80))
    )
    return sorted(p for p in folder.iterdir() if p.is_file())


def complaint(path):
    """Read a file and return our message, or None; anything else that is raised fails the test."""
    try:
        sl.read(path)
    except sl.SidelightError as error:
        return str(error)
    return None


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return small_files(tmp_path_factory.mktemp("small"))


def test_undamaged_files_are_read(files):
    for file in files:
        assert sl.read(file).n_rows > 0


@pytest.mark.parametrize("seed", range(100))
def test_damage_gives_a_result_or_a_message(files, tmp_path, seed):
    file = files[seed % len(files)]
    target = tmp_path / file.name
    target.write_bytes(mutations.mutate(file.read_bytes(), seed))
    message = complaint(target)
    assert message is None or target.name in message


@pytest.mark.data
@pytest.mark.parametrize("seed", range(12))
def test_damaged_public_files_give_a_result_or_a_message(data_dir, tmp_path, seed):
    names = ("corel/fox.data", "multilabel/emotions.arff", "msrcv2/MSRC_MIML.mat", "uci/pima.dat")
    file = data_dir / names[seed % len(names)]
    target = tmp_path / file.name
    target.write_bytes(mutations.mutate(file.read_bytes(), 1000 + seed))
    message = complaint(target)
    assert message is None or target.name in message
