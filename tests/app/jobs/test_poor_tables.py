"""Tables that hold little: empty rows and words, channels that never vary, one row a class, counts below zero."""

from __future__ import annotations

import csv
import warnings

import numpy as np
import pytest

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.run import run
from sidelight.errors import InvalidInput, SidelightWarning

CHANNELS = {"channels": {"a": ["a*"], "b": ["b*"]}}


def table(folder, kind: str) -> str:
    """Write 40 rows of words (w0 ...) or of two channels (a0 ... b2), in bags of four, in one way or another poor."""
    generator = np.random.default_rng(0)
    y = np.arange(40) % 2
    words = generator.poisson(np.where(np.arange(36)[None] % 2 == y[:, None], 1.0, 0.05))
    numbers = generator.normal(size=(40, 6)) + 3 * y[:, None]
    if kind == "empty":
        words[:3], words[:, :2] = 0, 0
    elif kind == "zero":
        words[:] = 0
    elif kind == "negative":
        words[4, 5] = -1
    elif kind == "constant channel":
        numbers[:, :3] = 7
    elif kind == "constant":
        numbers[:] = 1
    elif kind == "even":
        words[:] = 2
    elif kind == "few":
        numbers, y = numbers[:5], y[:5]
    is_words = kind in ("empty", "even", "zero", "negative")
    head = [f"w{j}" for j in range(36)] if is_words else [f"{name}{j}" for name in "ab" for j in range(3)]
    rows = words if is_words else numbers.round(3).astype(object)
    if kind == "channel of no row":
        rows[:, 3:] = ""
    path = folder / "table.csv"
    with path.open("w", newline="") as handle:
        csv.writer(handle).writerows(
            [["name", "group", *head], *([f"r{i}", f"b{i // 4}", *r] for i, r in enumerate(rows))]
        )
    return str(path)


TAKEN = [
    ("sources", "numbers", {"n_clusters": 40}, "40 rows of 2 channels fell into 40 clusters of 1 row each"),
    ("sources", "few", {}, "1 cluster was chosen: the data are too few to tell more apart"),
    ("coclusters", "empty", {"n_clusters": [2, 2]}, "fell into 2 x 2 clusters"),
    ("coclusters", "even", {"n_clusters": [2, 2]}, "There is nothing to keep: the table's information is zero"),
    ("relations", "empty", {"n_clusters": 2}, "40 rows fell into 2 clusters"),
    ("relations", "zero", {}, "1 cluster was chosen: the data are too few to tell more apart, or all the same"),
    ("relations", "constant", {"n_clusters": 3}, "only 1 of 3 clusters hold rows"),
    ("relations", "negative", {"n_clusters": 2}, "40 rows fell into 2 clusters"),
    ("bags", "constant", {}, "1 cluster was chosen: the data are too few to tell more apart, or all the same"),
    ("bags", "constant", {"n_clusters": 3}, "only 1 of 3 clusters have bags"),
    ("bags", "empty", {"n_clusters": 2}, "10 bags (40 rows) fell into"),
    ("bags", "numbers", {"n_clusters": 10}, "clusters have bags: the others hold the same words"),
]
REFUSED = [
    ("sources", "constant", {"n_clusters": 2}, "every channel is the same in every row"),
    ("sources", "constant channel", {"n_clusters": 2}, "'a' is the same in every row"),
    ("sources", "constant channel", {"n_clusters": 2, "primary": "b"}, "'a' is the same in every row"),
    ("sources", "constant channel", {"n_clusters": 2, "method": "annealed"}, "'a' is the same in every row"),
    ("sources", "channel of no row", {}, "no row has the channel 'b'"),
    ("sources", "numbers", {"n_clusters": 41}, "Ask for at most 40 clusters"),
    ("coclusters", "negative", {"n_clusters": [2, 2]}, "'w5' has negative numbers, so it holds no counts"),
    ("coclusters", "zero", {}, "every count is zero"),
    ("coclusters", "empty", {"n_clusters": [41, 2]}, "Ask for at most 40"),
    ("relations", "few", {"n_clusters": 6}, "Ask for at most 5 clusters"),
    ("bags", "numbers", {"n_clusters": 11}, "Ask for at most 10 clusters"),
]


def config(folder, job: str, kind: str, options) -> RunConfig:
    roles = (
        {**CHANNELS, "ignore": ["group"]}
        if job == "sources"
        else {"bag": "group"}
        if job == "bags"
        else {"ignore": ["group"]}
    )
    return RunConfig(job, table(folder, kind), {"id": "name", **roles}, options)


@pytest.mark.parametrize(("job", "kind", "options", "said"), TAKEN)
def test_what_is_there_is_clustered_and_what_is_poor_is_said(tmp_path, job, kind, options, said):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SidelightWarning)
        outcome = run(config(tmp_path, job, kind, options), tmp_path / "out")
    told = [*outcome.sentences, *map(str, outcome.result.heard)]
    assert any(said in sentence for sentence in told), told
    numbers = {
        word for sentence in told for word in ("fell into 1 cluster", "clusters were chosen") if word in sentence
    }
    assert len(numbers) < 2  # never both


@pytest.mark.parametrize(("job", "kind", "options", "said"), REFUSED)
def test_what_cannot_be_clustered_is_refused_in_one_sentence(tmp_path, job, kind, options, said):
    with pytest.raises(InvalidInput) as refused:
        run(config(tmp_path, job, kind, options), tmp_path / "out")
    assert said in str(refused.value)
    assert not (tmp_path / "out").exists()
