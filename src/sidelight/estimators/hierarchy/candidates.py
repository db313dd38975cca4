"""Trees with their rates of loss, several ways from the same counts; the likelihood of the labels picks one.

One shared alpha and a gate is best when labels are lost alike; without the gate overlapping labels survive; a rate per
label is right when some labels are forgotten more than others. Which case it is, the labels themselves say: rates per
label are tried only where the certified entries of the ungated tree have different rates (the likelihood alone
also takes them where there is one rate, because false edges with rates of their own explain what features share). Each
candidate is judged by log P(Z) without features, less half a log n for every further rate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from sidelight._core.label_passes import as_inputs, weighted_targets
from sidelight.estimators.hierarchy import edges
from sidelight.estimators.hierarchy.counts import Entries, Floats, PairCounts, count_pairs, unique_rows
from sidelight.estimators.hierarchy.loss_rates import (
    LEAST,
    MOST,
    certified,
    label_alphas,
    pooled_rate,
    rates_differ,
    shared_alpha,
    shrunk_rates,
)

Ints = NDArray[np.intp]

GATES = {"gate 4": 4.0, "gate 6": 6.0}
_ROUNDS = 6  # of tree and rate in turn; two are usual
_COARSE = np.arange(0.02, 0.9, 0.02)  # alphas tried for the ungated tree


class Seen(NamedTuple):
    """Rows of labels, and how often each occurs; None: once."""

    Z: Entries
    weights: Floats | None

    def certified(self, parents: Ints) -> tuple[Floats, Floats]:
        """Count the entries that are certainly on, and those of them that were seen."""
        return certified(self.Z, parents, self.weights)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tree, its rates of loss, where it came from, and what the labels are worth under it."""

    source: str
    parents: Ints
    alphas: Floats
    alpha: float
    shared: bool  # one rate for all labels
    gate: float
    value: float = -np.inf


def best_candidate(
    Z: Entries, eps: float, *, rates: str = "auto", weights: Floats | None = None
) -> tuple[Candidate, list[Candidate], PairCounts]:
    """Return the candidate that explains the labels best, all candidates, and the counts they were made from.

    Parameters
    ----------
    Z : ndarray of int8, shape (n_rows, n_labels)
        1 seen, 0 not seen, -1 nobody looked.
    eps : float
        P(label on | parent off), for the likelihood.
    rates : {"auto", "shared", "label"}
        Which candidates may win: all, those with one alpha, or the one with an alpha per label.
    weights : ndarray of shape (n_rows,), optional
        How often each row occurs, where rows of Z are distinct.
    """
    counts = count_pairs(Z, weights)
    seen = Seen(Z, weights)
    ungated = _ungated(seen, counts)
    made = []
    if rates != "label":
        made += [*(_gated(seen, counts, name, gate) for name, gate in GATES.items()), ungated]
    if rates == "label" or (rates == "auto" and rates_differ(*seen.certified(ungated.parents))):
        made += [_per_label(seen, counts), _per_label_ungated(seen, counts, ungated)]
    patterns, times = unique_rows(Z) if weights is None else (Z, weights)
    judged: list[Candidate] = []
    for candidate in made:
        same = [other.value for other in judged if _is_same(candidate, other)]  # gates often agree
        judged.append(replace(candidate, value=same[0] if same else _value(candidate, patterns, times, eps)))
    return max(judged, key=lambda candidate: candidate.value), judged, counts


def known_tree(Z: Entries, parents: Ints, *, rates: str = "auto", weights: Floats | None = None) -> Candidate:
    """Return the rates of loss of a tree that is given, pooled or shrunk label by label."""
    seen, certain = certified(Z, parents, weights)
    pooled = pooled_rate(seen, certain)
    alpha = 0.0 if pooled is None else pooled
    alphas = np.full(len(parents), alpha)
    if pooled is not None and (rates == "label" or (rates == "auto" and rates_differ(seen, certain))):
        alphas = shrunk_rates(seen, certain)
    cut = np.clip(alphas, LEAST, MOST) if pooled is not None else alphas
    return Candidate("given", parents, cut, alpha, bool(np.ptp(alphas) == 0), np.inf)


def no_tree(n_labels: int) -> Candidate:
    """Return labels that hang from nothing, with nothing forgotten."""
    return Candidate("overlap", np.full(n_labels, -1, dtype=np.intp), np.zeros(n_labels), 0.0, True, np.inf)


def label_likelihood(
    patterns: Entries, weights: Floats, parents: Ints, alphas: Floats, eps: float, *, max_iter: int = 60
) -> tuple[float, Floats]:
    """Maximise log P(Z) without features at fixed tree and rates; return it and each label's rate given its parent.

    Plain EM on the distinct rows; it stops when a round gains less than 0.05 nats.
    """
    tree = as_inputs(alphas, parents, eps)
    theta, last, value = np.full(len(parents), 0.3), -np.inf, -np.inf
    for _ in range(max_iter):
        both, parent, value = weighted_targets(np.asarray(logit(theta)), patterns, weights, tree)
        theta = np.clip((both + 1e-3) / (parent + 2e-3), 1e-6, 1 - 1e-6)
        if value - last < 0.05:
            break
        last = value
    return value, theta


def _is_same(one: Candidate, other: Candidate) -> bool:
    return bool((one.parents == other.parents).all() and (one.alphas == other.alphas).all())


def _value(one: Candidate, patterns: Entries, weights: Floats, eps: float) -> float:
    value, _ = label_likelihood(patterns, weights, one.parents, one.alphas, eps)
    inner = len(np.unique(one.parents[one.parents >= 0]))
    return value if one.shared else value - 0.5 * max(inner - 1, 0) * float(np.log(weights.sum()))


def _gated(rows: Seen, counts: PairCounts, source: str, gate: float) -> Candidate:
    n = rows.Z.shape[1]
    alpha = shared_alpha(counts)
    if alpha is None:
        return Candidate(source, np.full(n, -1, dtype=np.intp), np.zeros(n), 0.0, True, gate)
    parents = np.full(n, -2, dtype=np.intp)  # no tree yet
    for _ in range(_ROUNDS):
        alphas = np.full(n, alpha)
        short = edges.shortfalls(counts, alphas)
        tree = edges.heaviest_tree(edges.gated(counts, edges.edge_gains(counts, alphas), short, gate))
        tree = edges.settle_triples(counts, tree, alphas, short, gate, shared=True)
        alpha = pooled_rate(*rows.certified(tree)) or alpha
        if (tree == parents).all():
            break
        parents = tree
    return _shared(source, tree, alpha, gate)


def _ungated(rows: Seen, counts: PairCounts) -> Candidate:
    n, free = rows.Z.shape[1], np.zeros_like(counts.both)
    totals = []
    for alpha in _COARSE:
        gains = edges.edge_gains(counts, np.full(n, alpha))
        tree = edges.heaviest_tree(gains)
        totals.append(gains[tree, np.arange(n)][tree >= 0].sum())
    alpha = float(_COARSE[int(np.argmax(totals))])
    tree = edges.heaviest_tree(edges.edge_gains(counts, np.full(n, alpha)))
    for _ in range(_ROUNDS):
        alpha = pooled_rate(*rows.certified(tree)) or alpha
        new = edges.heaviest_tree(edges.edge_gains(counts, np.full(n, alpha)))
        if (new == tree).all():
            break
        tree = new
    for _ in range(_ROUNDS):
        new = edges.settle_triples(counts, tree, np.full(n, alpha), free, np.inf, shared=True)
        alpha = pooled_rate(*rows.certified(new)) or alpha
        if (new == tree).all():
            break
        tree = new
    return _shared("ungated", tree, alpha, np.inf)


def _per_label(rows: Seen, counts: PairCounts, gate: float = 4.0) -> Candidate:
    alphas, size, mean = label_alphas(counts)
    return _own_rates("per label", rows, counts, alphas, gate, lambda k, n: 1 - (k + size * (1 - mean)) / (n + size))


def _per_label_ungated(rows: Seen, counts: PairCounts, ungated: Candidate) -> Candidate:
    alphas = shrunk_rates(*rows.certified(ungated.parents))
    return _own_rates("per label, ungated", rows, counts, alphas, np.inf, shrunk_rates)


def _own_rates(
    source: str,
    rows: Seen,
    counts: PairCounts,
    alphas: Floats,
    gate: float,
    update: Callable[[Floats, Floats], Floats],
) -> Candidate:
    parents = np.full(len(alphas), -2, dtype=np.intp)  # no tree yet
    for _ in range(_ROUNDS):
        short = edges.shortfalls(counts, alphas)
        tree = edges.heaviest_tree(edges.gated(counts, edges.edge_gains(counts, alphas), short, gate))
        tree = edges.settle_triples(counts, tree, alphas, short, gate, shared=False)
        seen, certain = rows.certified(tree)
        if (tree == parents).all():
            break
        parents, alphas = tree, update(seen, certain)
    pooled = pooled_rate(seen, certain)
    alpha = 0.0 if pooled is None else pooled
    return Candidate(source, tree, np.clip(alphas, LEAST, MOST), alpha, False, gate)


def _shared(source: str, parents: Ints, alpha: float, gate: float) -> Candidate:
    if not (parents >= 0).any():  # nothing certifies a loss
        return Candidate(source, parents, np.zeros(len(parents)), 0.0, True, gate)
    return Candidate(source, parents, np.full(len(parents), np.clip(alpha, LEAST, MOST)), alpha, True, gate)
