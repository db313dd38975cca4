"""The clusters that are shown against the two opinions of every row, pooled one row at a time."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight._core.matching import match_rows
from sidelight.active.shown import _agreement, shown_clusters


def plain_agreement(guessed, labels):
    n = len(labels)
    alike = [[labels[j] == labels[i] for j in range(n) if j != i and guessed[j] == guessed[i]] for i in range(n)]
    alike = [np.mean(mates) for mates in alike if mates]
    pairs = [labels[i] == labels[j] for i in range(n) for j in range(n) if i != j]
    by_chance = np.mean(pairs) if pairs else 0.0
    if not alike or by_chance == 1.0:
        return 1.0
    above = (np.mean(alike) - by_chance) / (1 - by_chance)
    return float(np.clip((7 + len(alike) * above) / (7 + len(alike)), 0, 1))


def test_a_guess_is_judged_by_the_labels_of_its_mates():
    for seed in range(12):
        generator = np.random.default_rng(seed)
        n = [1, 2, 3, 6, 10, 14][seed % 6]
        guessed, labels = generator.integers(4, size=n), generator.integers(1 + seed % 4, size=n)
        assert _agreement(guessed, labels) == pytest.approx(plain_agreement(guessed, labels))


def plain_shown(guessed, rows, q, P, novelty, n_clusters, unmet, told, is_consistent):
    n_known, n_guessed = q.shape[1], max(guessed) + 1
    met = np.array(
        [sum((q[t] for t, row in enumerate(rows) if guessed[row] == g), np.zeros(n_known)) for g in range(n_guessed)]
    )
    label = match_rows(met)
    matched = {
        g: label[g] for g in range(n_guessed)
        if label[g] >= 0 and (n_clusters is not None or met[g, label[g]] > 0)
    }  # fmt: skip
    own = [g for g in range(n_guessed) if g not in matched]
    n_own = n_clusters - n_known if n_clusters is not None else max(round(unmet * len(own)), 2 - n_known)
    own = sorted(own, key=lambda g: (met[g].sum(), -sum(guessed == g)))[: max(n_own, 0)]
    own = sorted(own)
    trust = np.clip((plain_agreement(guessed[rows], q.argmax(axis=1)) - 0.15) / 0.45, 0, 1)
    n_labels = n_known + len(own)
    per_cluster = told * len(rows) / n_labels
    share = np.full((n_guessed, n_labels), 1e-9)
    for g in range(n_guessed):
        share[g, :n_known] = told * met[g] + 0.3 / n_known
        if g in own:
            share[g, n_known + own.index(g)] = max(8 * trust, 1)
        if g in matched and (not is_consistent or per_cluster < 3):
            share[g, matched[g]] += 8 * trust
        share[g] /= share[g].sum()
    shown = []
    for row, g in enumerate(guessed):
        reach = (1 - novelty[row]) * min(per_cluster / (6 if is_consistent else 8), 1) ** 2
        if g in own and met[g].sum() == 0:
            reach = 0.0
        reach = 1 - trust * (1 - reach)
        score = (1 - reach) * np.log(share[g])
        score[:n_known] += reach * np.log(np.maximum(P[row], 1e-9))
        score[n_known:] -= reach * np.log(n_known)
        shown.append(int(score.argmax()))
    return shown


@pytest.mark.parametrize("is_consistent", [True, False])
@pytest.mark.parametrize("n_clusters", [None, 3, 5])
def test_what_is_shown_pools_the_guess_and_the_answers(n_clusters, is_consistent):
    for seed in range(30):
        generator = np.random.default_rng(seed)
        guessed = np.append(np.arange(4), generator.integers(4, size=36))
        rows = generator.choice(40, [2, 6, 9, 18, 24][seed % 5], replace=False)
        labels = np.where(generator.random(40) < [0.9, 0.5][seed % 2], guessed % 3, generator.integers(3, size=40))
        n_known = int(labels[rows].max()) + 1 if n_clusters != 3 else 3
        q = np.eye(n_known)[labels[rows]] if seed % 3 else generator.dirichlet(np.ones(n_known), len(rows))
        P, novelty = generator.dirichlet(np.ones(n_known), 40), generator.random(40)
        unmet, told = generator.choice([0.0, 0.5, 1.0]), generator.choice([0.2, 1.0])
        arguments = (guessed, rows, q, P, novelty)
        shown = shown_clusters(*arguments, n_clusters=n_clusters, unmet=unmet, told=told, is_consistent=is_consistent)
        assert shown.tolist() == plain_shown(*arguments, n_clusters, unmet, told, is_consistent), seed


def test_at_three_labels_a_cluster_nothing_holds_on_to_its_guess():
    guessed, rows = np.repeat([0, 1], 10), np.array([0, 1, 2, 10, 11, 12])
    arguments = (guessed, rows, np.eye(2)[guessed[rows]], np.repeat([[0.02, 0.98]], 20, axis=0), np.full(20, 0.4))
    for told in (1.0, 0.99):
        shown = shown_clusters(*arguments, n_clusters=2, unmet=1.0, told=told, is_consistent=True)
        assert shown.tolist() == plain_shown(*arguments, 2, 1.0, told, True)
