"""Copies among the files of a folder, told by what a network says of them."""

from __future__ import annotations

import numpy as np
import polars as pl

from sidelight.files.material.copies import about_copies, copies_among


def table(n: int = 20) -> pl.DataFrame:
    """Two rows a file of numbers that say different things of each; file 7 is file 2 again, 9 nearly file 4."""
    rows = np.random.default_rng(0).normal(size=(n, 2, 30))
    rows[7] = rows[2]
    rows[9] = rows[4] + 0.02 * np.random.default_rng(1).normal(size=(2, 30))
    columns = {f"emb_{k}": rows[..., k].ravel() for k in range(30)}
    return pl.DataFrame({"file": np.repeat([f"{k:02d}.jpg" for k in range(n)], 2), "show": ["x"] * 2 * n, **columns})


def test_copies_and_near_copies_are_named_with_the_first():
    assert copies_among(table()) == {"07.jpg": "02.jpg", "09.jpg": "04.jpg"}
    told = about_copies(table())
    assert told == ["2 files are copies or near copies (07.jpg of 02.jpg and 09.jpg of 04.jpg)"]


def test_files_that_are_alike_as_others_are_no_copies():
    frame = table().filter(~pl.col("file").is_in(["07.jpg", "09.jpg"]))
    assert copies_among(frame) == {}
    assert about_copies(frame) == []


def test_nothing_is_said_where_no_network_was_asked_or_of_a_few_files():
    assert copies_among(table().select("file", "show")) == {}
    assert copies_among(table().head(12)) == {}
