"""Why each label hangs where it hangs, and whether the gaps of its parent look like forgetting.

If c implies p, then on the rows where c was seen p is on, and whether p was seen there is a coin of its own: it depends
on no other label and on no feature. Where it does depend on one, p was truly absent on some of these rows (the labels
overlap and none implies the other), or forgetting is not random.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import xlogy
from scipy.stats import chi2, norm

from sidelight._models.label_logits import LabelLogits
from sidelight.estimators.hierarchy.candidates import Candidate
from sidelight.estimators.hierarchy.counts import Entries, Floats, PairCounts
from sidelight.estimators.hierarchy.edges import triple_evidence
from sidelight.estimators.hierarchy.weights import fit_weights

NOT_RANDOM = 1e-3  # p-value below which the gaps of a parent are not called forgetting
REFUTED = 0.01  # p-value below which gaps are doubted; below which, over all links, one does not count if mostly unseen
MOSTLY = 0.5  # share of the rows of a label on which its parent must have been seen for such a link to count
IMPLIED = 0.6  # share on which it may have been on, by features
_LIFT = 0.3  # p-value above which a parent is not seen more often with its child: two of three links of noise
_STEPS = 10  # of L-BFGS for scores that only rank rows
_SHARES = np.arange(1, 10) / 10  # of rows with the parent seen that are above a score
_LEAST_CELL = 5.0  # expected rows in every cell of a table, below which chi-squared says little


def edge_evidence(counts: PairCounts, chosen: Candidate) -> tuple[Floats, Floats]:
    """Return the evidence for the parent of each label, and (both seen, label seen); NaN and 0 under the root."""
    n = len(chosen.parents)
    nats, seen = np.full(n, np.nan), np.zeros((n, 2))
    for c, p in enumerate(chosen.parents.tolist()):
        seen[c, 1] = counts.seen[c]
        if p >= 0:
            g = int(chosen.parents[p])
            nats[c] = triple_evidence(counts, chosen.alphas, chosen.shared, c, np.array([p]), g)[0]
            seen[c] = counts.both[p, c], counts.child[p, c]
    return nats, seen


def gap_p_values(Z: Entries, chosen: Candidate, scores_by_features: Callable[[], Floats | None]) -> Floats:
    """Test for each label whether the gaps of its parent, on the rows of the label, depend on other labels or features.

    A G-test of z_parent against every other label over the rows where the label was seen, and the correlation of
    z_parent with its score by features; the smallest of the p-values times their number (Bonferroni), at most 1. NaN
    under the root and where there are too few rows to tell.

    Parameters
    ----------
    Z, chosen : ndarray, Candidate
        What was seen, and the tree.
    scores_by_features : callable
        Returns scores of all labels, from weights that did not see the row, or None; called where a parent has gaps.
    """
    p_values, scores = np.full(len(chosen.parents), np.nan), None
    for c, p in enumerate(chosen.parents.tolist()):
        if p < 0:
            continue
        is_tested = (Z[:, c] == 1) & (Z[:, p] >= 0)
        rows = Z[is_tested]
        others = np.delete(rows, [c, p], axis=1)
        parent, known = rows[:, p].astype(np.float64), (others >= 0).astype(np.float64)
        on = (others == 1).astype(np.float64)
        G, can_tell = _g_tests(parent @ on, parent @ known, on.sum(axis=0), known.sum(axis=0))
        found = chi2.sf(G[can_tell], 1).tolist()
        if min(parent.sum(), (1.0 - parent).sum()) >= _LEAST_CELL:
            scores = scores_by_features() if scores is None else scores
            if scores is not None:
                found.append(_correlation_p_value(parent, scores[is_tested, p]))
        if found:
            p_values[c] = min(1.0, float(len(found) * min(found)))
    return p_values


def unsupported(Z: Entries, chosen: Candidate, p_values: Floats) -> np.ndarray:
    """Return which links are no implications: the gaps of the parent are no forgetting, or it is not seen more often.

    A parent that is on wherever its child is must be seen there more often than elsewhere (one-sided test of two
    shares), unless it is on nearly everywhere, which says nothing about the child.
    """
    refuted = np.nan_to_num(p_values, nan=1.0) < NOT_RANDOM
    for c, p in enumerate(chosen.parents.tolist()):
        if p >= 0 and not refuted[c]:
            looked, with_child = Z[:, p] >= 0, Z[:, c] == 1
            here, there = Z[looked & with_child, p], Z[looked & ~with_child, p]
            p_value = _p_value_of_lift(float(here.sum()), len(here), float(there.sum()), len(there))
            refuted[c] = p_value * (len(refuted) - 1) > _LIFT  # the best of so many parents was chosen
    return refuted


def implausible(
    Z: Entries, chosen: Candidate, p_values: Floats, scores_by_features: Callable[[], Floats | None]
) -> np.ndarray:
    """Return which links neither count as loss nor fill gaps: the parent is mostly unseen, and not by chance.

    Its gaps depend on other labels or features, or so few of them can be losses (as in :func:`lost_range`) that the
    parent would be on for less than ``IMPLIED`` of the rows of the label.
    """
    cut, scores = np.zeros(len(p_values), dtype=bool), None
    refuted = REFUTED / max(1, int((chosen.parents >= 0).sum()))  # one of so many is below .01 by chance
    for c, p in enumerate(chosen.parents.tolist()):
        rows = (Z[:, c] == 1) & (Z[:, p] >= 0)
        seen = Z[rows, p] == 1
        if p < 0 or not len(seen) or seen.mean() >= MOSTLY:
            continue
        cut[c] = p_values[c] < refuted
        scores = scores_by_features() if scores is None else scores
        if scores is not None and not cut[c]:
            share = seen.mean()
            most = _most_lost(scores[rows, p][seen], scores[rows, p][~seen])
            cut[c] = share + most * (1.0 - share) < IMPLIED
    return cut


def lost_range(
    Z: Entries, chosen: Candidate, p_values: Floats, scores_by_features: Callable[[], Floats | None]
) -> Floats:
    """Return between which shares of the labels lie that were on and not seen: one number where no link is refuted.

    The upper end takes every gap of a parent for forgotten. The lower one asks features: rows with a forgotten parent
    look like those where it was seen, so that of the rows with the child and without the parent at most

        min over t of P(score of the parent >= t | child, unseen) / P(score of the parent >= t | child, seen)

    can be losses; a standard error is added. Without features a refuted link loses nothing.
    """
    refuted = np.nan_to_num(p_values, nan=1.0) < REFUTED
    if not refuted.any():
        return np.array([chosen.alpha, chosen.alpha])
    scores = scores_by_features()
    n_seen = n_lost = 0.0
    for c, p in enumerate(chosen.parents.tolist()):
        if p < 0:
            continue
        rows = (Z[:, c] == 1) & (Z[:, p] >= 0)
        seen = Z[rows, p] == 1
        most = 0.0 if refuted[c] else 1.0
        if scores is not None:
            most = _most_lost(scores[rows, p][seen], scores[rows, p][~seen])
        n_seen, n_lost = n_seen + float(seen.sum()), n_lost + most * float((~seen).sum())
    low = n_lost / (n_seen + n_lost) if n_seen + n_lost else 0.0
    return np.array([min(low, chosen.alpha), chosen.alpha])


def _most_lost(seen: Floats, unseen: Floats) -> float:
    """Return the largest share of the unseen that may look like the seen, plus a standard error."""
    if len(seen) < _LEAST_CELL or not len(unseen):
        return 1.0
    cuts = np.quantile(seen, 1.0 - _SHARES)
    above, other = (seen[:, None] >= cuts).mean(axis=0), ((unseen[:, None] >= cuts).sum(axis=0) + 0.5)
    other /= len(unseen) + 1.0
    ratio = other / above
    error = ratio * np.sqrt((1.0 - above) / (len(seen) * above) + (1.0 - other) / (len(unseen) * other))
    return float(min(1.0, (ratio + error).min()))


def _p_value_of_lift(k: float, n: int, other_k: float, other_n: int) -> float:
    """Test whether the share k / n is above the share other_k / other_n; 1 where it cannot be told."""
    if not n or not other_n:
        return 1.0
    share = (k + other_k) / (n + other_n)
    error = np.sqrt(share * (1.0 - share) * (1.0 / n + 1.0 / other_n))
    return float(norm.sf((k / n - other_k / other_n) / error)) if error > 0 else 1.0


def held_out_scores(model: LabelLogits, Z: Entries) -> Floats | None:
    """Score every label by features, each row with weights that were fitted to the other half of the rows."""
    if model.rows is None:
        return None
    scores = np.empty(Z.shape)
    halves = slice(0, None, 2), slice(1, None, 2)
    for fitted, scored in (halves, halves[::-1]):
        rows, seen = model.rows.take(fitted), Z[fitted]
        half = LabelLogits(rows, len(seen), Z.shape[1], model.penalty)
        on, known = (seen == 1).astype(np.float64), (seen >= 0).astype(np.float64)
        V, b = half.unpack(fit_weights(half, half.start(), on, known, steps=_STEPS))
        scores[scored] = model.rows.take(scored).products(V) + b
    return scores


def _correlation_p_value(seen: Floats, scores: Floats) -> float:
    """Test whether entries are seen more often where their score is higher."""
    spread = float(scores.std() * seen.std())
    correlation = float(np.mean((scores - scores.mean()) * (seen - seen.mean()))) / spread if spread > 0 else 0.0
    return float(norm.sf(correlation * np.sqrt(len(seen))))


def _g_tests(both: Floats, first: Floats, second: Floats, total: Floats) -> tuple[Floats, np.ndarray]:
    """Return G of many two-by-two tables, and which have enough rows in every cell to be believed."""
    observed = np.stack([both, first - both, second - both, total - first - second + both])  # rows by first, second
    rest, other = total - first, total - second
    expected = np.stack([first * second, first * other, rest * second, rest * other]) / np.maximum(total, 1.0)
    G = 2 * xlogy(observed, np.maximum(observed, 1e-300) / np.maximum(expected, 1e-300)).sum(axis=0)
    return G, expected.min(axis=0) >= _LEAST_CELL
