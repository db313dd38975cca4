"""Hundreds of damaged files from a seed: a clean result or one of our messages, never anything else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("seed", range(300))
def test_damage_gives_a_result_or_a_message(files, tmp_path, seed):
    file = files[seed % len(files)]
    target = tmp_path / file.name
    target.write_bytes(mutations.mutate(file.read_bytes(), seed, file.suffix))
    message = complaint(target)
    assert message is None or target.name in message


@pytest.mark.data
@pytest.mark.parametrize("seed", range(12))
def test_damaged_public_files_give_a_result_or_a_message(data_dir, tmp_path, seed):
    names = ("corel/fox.data", "multilabel/emotions.arff", "msrcv2/MSRC_MIML.mat", "uci/pima.dat")
    file = data_dir / names[seed % len(names)]
    target = tmp_path / file.name
    target.write_bytes(mutations.mutate(file.read_bytes(), 1000 + seed, file.suffix))
    message = complaint(target)
    assert message is None or target.name in message
