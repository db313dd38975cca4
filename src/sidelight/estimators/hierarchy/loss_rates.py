"""How often a label that is on goes unseen: alpha before any tree, from a tree, and label by label.

Before any tree: among the rows where c was seen, a parent p of c was seen in Bin(n_c, 1 - alpha) of them, a mere
associate in fewer. So the shares r = n_pc / n_c of the strongest associates have a spike at 1 - alpha and something
below it, and alpha is where that mixture is most likely.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln, gammaln, logsumexp

from sidelight._core.forest import parents_first
from sidelight.estimators.hierarchy.counts import Entries, Floats, PairCounts, association

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
