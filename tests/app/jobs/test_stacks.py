"""Copies of what a network described are shown as one, and counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sidelight.app.jobs.gallery import gallery_of
from sidelight.data.dataset import Dataset


def shown(data: Dataset) -> list[tuple[str, str]]:
    labels = np.arange(data.n_rows) % 2
    found = gallery_of(data, labels, np.linspace(1.0, 0.95, data.n_rows), ["a", "b"])
    return [(member.name, member.why) for group in found.groups for member in group.members["typical"]]


def test_copies_lie_in_one_stack_where_columns_are_components():
    X = np.random.default_rng(0).normal(size=(12, 3))
    X[[2, 4]] = X[0]
    X[3] = X[0]  # in the other cluster: no copy to be seen there
    plain = Dataset(X, ("emb_0", "emb_1", "emb_2"), path="rows")
    assert len(shown(plain)) == 12
    stacked = shown(replace(plain, components=("emb_*",)))
    assert len(stacked) == 10
    assert stacked[0][1] == "100% sure, and 2 copies or near copies"
    assert not any("cop" in why for _, why in stacked[1:])


def test_near_copies_lie_in_the_stack_too():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(40, 30))
    X[[8, 22]] = X[4] + 0.02 * generator.normal(size=(2, 30))
    names = tuple(f"emb_{k}" for k in range(30))
    found = shown(Dataset(X, names, path="rows", components=("emb_*",)))
    assert [why for _, why in found if "cop" in why] == ["99% sure, and 2 copies or near copies"]
