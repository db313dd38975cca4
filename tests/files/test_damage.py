"""Hundreds of damaged files from a seed: a clean result or one of our messages, never anything else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.examples import up_to

import sidelight as sl

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import mutations
from attack.small import write_files
from sidelight.files.material.listing import KINDS


def complaint(path):
    """Read a file and return our message, or None; anything else that is raised fails the test."""
    try:
        sl.read(path)
    except sl.SidelightError as error:
        return str(error)
    return None


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    every = write_files(tmp_path_factory.mktemp("small"))
    material = (*KINDS["sounds"], *KINDS["pictures"])  # cut, not read: tests/files/material
    return [file for file in every if file.suffix not in material]


def test_undamaged_files_are_read(files):
    for file in files:
        if file.stem == "letter":  # a text, which is cut and not read as a table: tests/files/material
            continue
        assert sl.read(file).n_rows > 0


def check_damaged(file, folder, seed):
    """Damage a copy of a file; a message names it."""
    target = folder / file.name
    target.write_bytes(mutations.mutate(file.read_bytes(), seed, file.suffix))
    message = complaint(target)
    assert message is None or target.name in message, seed


@pytest.mark.hypothesis  # tried on ten times as many by ``make test-slow``, as every property is
@pytest.mark.parametrize("first", range(10))
def test_damage_gives_a_result_or_a_message(files, tmp_path, first):
    for seed in range(first, up_to(300), 10):
        check_damaged(files[seed % len(files)], tmp_path, seed)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", ["corel/fox.data", "multilabel/emotions.arff", "msrcv2/MSRC_MIML.mat", "uci/pima.dat"])
def test_damaged_public_files_give_a_result_or_a_message(data_dir, tmp_path, name):
    for seed in range(1000, 1003):
        check_damaged(data_dir / name, tmp_path, seed)
