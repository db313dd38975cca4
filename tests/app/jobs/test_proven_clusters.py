"""How many clusters answers prove, which is the least number that relations chooses."""

from __future__ import annotations

from itertools import combinations

import numpy as np

import sidelight as sl
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.page import about_choice
from sidelight.app.jobs.relations import Relations
from sidelight.app.jobs.relations.work import cluster, proven_clusters


def pairs(said, n_rows=40):
    """Answers by (row, row, word)."""
    return sl.Pairs(*zip(*said), n_rows=n_rows)


def groups(n):
    """Answers that prove n groups of two rows."""
    said = [(2 * k, 2 * k + 1, "same") for k in range(n)]
    return [*said, *((2 * a, 2 * b + 1, "different") for a, b in combinations(range(n), 2))]


def test_groups_that_all_differ_are_so_many_clusters():
    assert proven_clusters(pairs(groups(5))) == 5
    assert proven_clusters(pairs(groups(5)[:-1])) == 4  # two of them were never compared
    assert proven_clusters(pairs([(0, 1, "same")])) == 1


def test_a_single_row_and_a_contradiction_prove_nothing():
    single = [*groups(3), *((row, 20, "different") for row in range(6))]
    assert proven_clusters(pairs(single)) == 3
    broken = [*groups(3), (0, 30, "same"), (30, 1, "different")]
    assert proven_clusters(pairs(broken)) == 2


def test_few_answers_that_prove_more_clusters_than_the_rows_suggest_decide_their_number():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 5
    X = np.where(y < 3, 0.0, 20.0)[:, None] + 0.2 * np.eye(5)[y] + 0.3 * rng.normal(size=(60, 5))  # two heaps of rows
    said = [(row, row + 5, "same") for row in range(5)]
    said += [(a, b + 5, "different") for a, b in combinations(range(5), 2)]
    data = sl.Dataset(X, list("abcde"))
    config = RunConfig("relations", "rows.csv", {}, Relations(), 0)
    result = cluster(data, config, pairs(said, 60))
    assert result.n_clusters_choice[0].by == "proof"
    assert result.n_clusters_choice[0].chosen == 5
    assert "answers prove" in str(about_choice(result.n_clusters_choice))
