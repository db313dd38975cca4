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
from scipy.special import betainc, betaln, gammaln, logit, logsumexp

from sidelight._core.forest import parents_first
from sidelight._core.label_passes import as_inputs, weighted_targets
from sidelight.estimators.hierarchy import edges
from sidelight.estimators.hierarchy.counts import Entries, Floats, PairCounts, association, count_pairs, unique_rows

# How often a label that is on goes unseen: alpha before any tree, from a tree, and label by label.
#
# Before any tree: among the rows where c was seen, a parent p of c was seen in Bin(n_c, 1 - alpha) of them, a mere
# associate in fewer. So the shares r = n_pc / n_c of the strongest associates have a spike at 1 - alpha and something
# below it, and alpha is where that mixture is most likely.


Ints = NDArray[np.intp]
GRID = np.arange(0.01, 0.96, 0.01)  # the values of alpha that are tried
_LEAST_G = 3.0  # nats (times two) below which an association may be chance
_ASSOCIATES = 30  # candidates a label that enter its own profile
_SPIKE = 0.3  # share of true edges among them, as in the trial
_PRIOR_SIZES = (3, 6, 12, 25, 50, 100, 300, 3000)  # how alike the rates of all labels may be, in rows
_PRIOR_MEANS = np.arange(0.02, 0.95, 0.01)
LEAST, MOST = 1e-3, 0.99  # where a rate is cut: 0 would forbid every contradiction, 1 explain everything


def shared_alpha(counts: PairCounts) -> float | None:
    """Estimate one alpha for all labels before any tree; None when no two labels go together."""
    seen, n = counts.seen, len(counts.both)
    G = np.where(seen[:, None] >= seen[None, :], association(counts), -1.0)
    np.fill_diagonal(G, -1.0)
    best, children = G.argmax(axis=0), np.flatnonzero(G.max(axis=0) > _LEAST_G)
    if not len(children) or n < 2:
        return None
    both, child = counts.both[best[children], children], counts.child[best[children], children]
    spike, below = _spike_and_below(both[:, None], child[:, None])
    share = np.full(len(GRID), 0.5)
    for _ in range(30):  # EM for the share of spikes, all alphas at once; it settles in about ten rounds
        is_spike = 1.0 / (1.0 + np.exp(np.clip(below + np.log1p(-share) - spike - np.log(share), -700, 700)))
        share = np.clip((is_spike.sum(axis=0) + 1) / (len(children) + 2), 0.02, 0.98)
    return float(GRID[np.logaddexp(spike + np.log(share), below + np.log1p(-share)).sum(axis=0).argmax()])


def label_alphas(counts: PairCounts) -> tuple[Floats, float, float]:
    """Estimate alpha of every label before any tree, by empirical Bayes.

    Returns the posterior means and the beta prior they share, as its size (in rows) and its mean.
    """
    profiles = _profiles(counts)
    best = (-np.inf, 3.0, 0.1, np.zeros(len(GRID)))
    for size in _PRIOR_SIZES:
        a, b = size * _PRIOR_MEANS[:, None], size * (1 - _PRIOR_MEANS[:, None])
        logs = (a - 1) * np.log(GRID) + (b - 1) * np.log1p(-GRID)
        logs -= logsumexp(logs, axis=1, keepdims=True)
        evidence = logsumexp(profiles[:, None, :] + logs, axis=2).sum(axis=0)
        top = int(evidence.argmax())
        if evidence[top] > best[0]:
            best = (float(evidence[top]), float(size), float(_PRIOR_MEANS[top]), logs[top])
    _, prior_size, mean, log_prior = best
    post = profiles + log_prior
    post = np.exp(post - logsumexp(post, axis=1, keepdims=True))
    return np.asarray(post @ GRID), prior_size, mean


def certified(Z: Entries, parents: Ints, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Count for each label the entries that are certainly on, and how many of those were seen.

    A label is certainly on where a strict descendant was seen; unchecked entries do not count. A row counts as often as
    its weight says. Returns (seen, certain).
    """
    below = np.zeros(Z.shape, dtype=bool)
    for c in parents_first(parents)[::-1]:
        if parents[c] >= 0:
            below[:, parents[c]] |= below[:, c] | (Z[:, c] == 1)
    sure = below & (Z >= 0)
    if weights is not None:
        return weights @ (sure & (Z == 1)), weights @ sure
    return (sure & (Z == 1)).sum(axis=0).astype(np.float64), sure.sum(axis=0).astype(np.float64)


def pooled_rate(seen: Floats, certain: Floats) -> float | None:
    """Return 1 - (seen + 1/2) / (certain + 1) over all labels; None when nothing is certain."""
    return float(1 - (seen.sum() + 0.5) / (certain.sum() + 1)) if certain.sum() > 0 else None


def rates_differ(seen: Floats, certain: Floats) -> bool:
    """Say whether a rate per label explains the certified entries better than one for all, by half a log n a rate."""
    inner = certain > 0
    if inner.sum() < 2:
        return False
    k, n = seen[inner], certain[inner]

    def log_likelihood(rate: Floats) -> float:
        return float((k * np.log1p(-rate) + (n - k) * np.log(rate)).sum())

    own = 1 - (k + 0.5) / (n + 1)
    pooled = np.full(len(k), 1 - (k.sum() + 0.5) / (n.sum() + 1))
    return log_likelihood(own) - log_likelihood(pooled) > 0.5 * (len(k) - 1) * float(np.log(n.sum()))


def shrunk_rates(seen: Floats, certain: Floats) -> Floats:
    """Estimate each label's rate from its certified entries, drawn towards a beta prior fitted to all of them."""
    inner = certain > 0
    lost, n = (certain - seen)[inner], certain[inner]
    size, mean, top = 3.0, 0.1, -np.inf
    for tried in _PRIOR_SIZES:
        a, b = tried * _PRIOR_MEANS[:, None], tried * (1 - _PRIOR_MEANS[:, None])
        evidence = (betaln(a + lost, b + n - lost) - betaln(a, b)).sum(axis=1)
        if evidence.max() > top:
            top, size, mean = float(evidence.max()), float(tried), float(_PRIOR_MEANS[int(evidence.argmax())])
    return np.asarray(1 - (seen + size * (1 - mean)) / (certain + size))


def _profiles(counts: PairCounts) -> Floats:
    """Log-likelihood of alpha (columns) of each label, from the labels seen less often that go with it."""
    seen = counts.seen
    G = np.where(seen[:, None] >= seen[None, :], association(counts), -1.0)
    np.fill_diagonal(G, -1.0)
    profiles = np.zeros((len(G), len(GRID)))
    for p in range(len(G)):
        c = np.argsort(-G[p], kind="stable")[:_ASSOCIATES]
        c = c[G[p, c] > _LEAST_G]
        if len(c):
            spike, below = _spike_and_below(counts.both[p, c][:, None], counts.child[p, c][:, None])
            profiles[p] = np.logaddexp(np.log(_SPIKE) + spike, np.log1p(-_SPIKE) + below).sum(axis=0)
    return profiles


def _spike_and_below(both: Floats, child: Floats) -> tuple[Floats, Floats]:
    """Log-probabilities of n_pc under Bin(n_c, 1 - alpha), and under Bin(n_c, s) with s even on [0, 1 - alpha]."""
    q = 1 - GRID
    choose = gammaln(child + 1) - gammaln(both + 1) - gammaln(child - both + 1)
    spike = choose + both * np.log(q) + (child - both) * np.log(GRID)
    # mean of Bin(k; n, s) over s in [0, q] = I_q(k + 1, n - k + 1) / ((n + 1) q)
    below = np.log(np.maximum(betainc(both + 1, child - both + 1, q), 1e-300)) - np.log(child + 1) - np.log(q)
    return np.asarray(spike), np.asarray(below)


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
