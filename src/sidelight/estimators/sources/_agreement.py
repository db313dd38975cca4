"""What each channel counts for: how far others find the clusters that it finds, and whether it has any at all.

Where channels show the same clusters, each with a reliability q of its own, the agreement of a and b is about q_a q_b:
three channels or more tell every q, as factor analysis tells loadings from correlations. Two channels confirm each
other equally. Channels that join mostly the same rows, and more of them than clusters of that size would explain, are
copies of one another, whose agreement says nothing about what they show: they are one voice and share its weight. A
channel that shares nothing with any other and looks like noise of the same spread is noise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import adjusted_mutual_info_score

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Masks = Mapping[str, NDArray[np.bool_]]

LEAST = 1e-3  # what a channel without any agreement counts for: nothing, but rows that have no other keep their place
_COPIES = 0.5  # share of common edges from which two channels may be copies
_BEYOND = 2.0  # times the share that common clusters explain; clusters of a dozen rows are all neighbours
_STEPS = 50  # of the fixed point; it has converged to two digits after ten
_COMPARED = 5000  # rows whose clusters are compared
_NOTHING_SHARED = 0.25  # excess over chance below which a channel shares nothing with another
_FEWEST, _MOST = 150, 1500  # rows of which structure is judged
_NOISE, _STRUCTURE = 0.01, 0.03  # excess of the eigenvalues over those of noise; its standard error is about .01


@dataclass(frozen=True, slots=True)
class CommonEdges:
    """How many edges every two channels have in common: over chance, less 1, and as a share of the smaller number.

    Channels that agree on K equal clusters, and on nothing within them, have an excess of K - 1. Diagonals are 0.
    """

    excess: Floats
    share: Floats

    @classmethod
    def of(cls, graphs: Mapping[str, Any], there: Masks) -> Self:
        """Count edges among the rows that have both channels."""
        names = list(graphs)
        edges = {name: _edges(W) for name, W in graphs.items()}
        excess, share = np.zeros((2, len(names), len(names)))
        for i, a in enumerate(names):
            for j, b in enumerate(names[:i]):
                both = there[a] & there[b]
                mine, theirs = _among(edges[a], both), _among(edges[b], both)
                if fewest := min(mine.nnz, theirs.nnz):
                    excess[i, j] = excess[j, i] = _excess(mine, theirs, both)
                    share[i, j] = share[j, i] = mine.multiply(theirs).sum() / fewest
        return cls(excess, share)


def _excess(mine: Any, theirs: Any, both: NDArray[np.bool_]) -> float:
    """Return how many edges two graphs have in common, over chance, less 1; both have some."""
    n = float(both.sum())
    return float(mine.multiply(theirs).sum() * n * (n - 1.0) / (mine.nnz * float(theirs.nnz)) - 1.0)


def reliabilities(agreement: Floats) -> Floats:
    """Return q, the largest 1, such that agreement[a, b] is nearly q[a] q[b] for a != b; equal ones for two."""
    n = len(agreement)
    agreement = np.maximum(agreement, 0.0)
    if n < 3 or agreement.max() <= 0:
        return np.ones(n)
    q = np.ones(n)
    for _ in range(_STEPS):
        q = agreement @ q / np.maximum(q @ q - q**2, 1e-12)  # least squares in one q while the others stay
        q /= q.max()
    return np.asarray(q)


def channel_weights(
    channels: Mapping[str, Floats],
    there: Masks,
    graphs: Mapping[str, Any],
    common: CommonEdges,
    generator: np.random.Generator,
    *,
    labels_of: Callable[[str], Ints],
    leading: Callable[[Floats], float],
) -> dict[str, float]:
    """Weigh channels by how reliably they show what others show, the largest weight 1.

    Parameters
    ----------
    channels, there : mappings
        The prepared rows of each channel, and the rows that have it.
    graphs : mapping
        The graph of each channel.
    common : CommonEdges
        Of these graphs.
    generator : numpy.random.Generator
        Draws noise, and rows of which clusters are compared.
    labels_of : callable
        The clusters that a channel shows alone; asked where three channels or more are there.
    leading : callable
        The mean of the leading eigenvalues of the graph of some rows.
    """
    labels = dict(zip(channels, map(labels_of, channels))) if len(channels) > 2 else {}
    copies = _copies(common.share, graphs, labels, there) if labels else np.zeros_like(common.share, dtype=bool)
    n_voices, voice = connected_components(sp.csr_array(copies), directed=False)
    q = np.ones(n_voices)
    if n_voices > 2:
        q = reliabilities(_voices_agree(labels, there, voice, generator))
    weights = q[voice] / np.bincount(voice)[voice]
    alone = common.excess.max(axis=1, initial=0.0) < _NOTHING_SHARED
    if len(weights) > 1 and alone.any():
        structure = np.zeros(len(weights))
        for k, (name, rows) in enumerate(channels.items()):
            structure[k] = _structure(rows[there[name]], generator, leading)
        if structure.max() > _STRUCTURE:
            weights[alone & (structure < _NOISE)] = 0.0
    return dict(zip(channels, np.maximum(weights / weights.max(), LEAST).tolist()))


def _copies(share: Floats, graphs: Mapping[str, Any], labels: Mapping[str, Ints], there: Masks) -> NDArray[np.bool_]:
    """Say which channels are copies: they share more edges than rows of common clusters would anyway.

    Where clusters are hardly larger than neighbourhoods, two clear channels share most edges without being copies.
    """
    out = share > _COPIES
    names = list(graphs)
    for i, j in zip(*np.nonzero(np.triu(out))):
        both = there[names[i]] & there[names[j]]
        explained = max(
            _density(_among(_edges(graphs[names[a]]), both), labels[names[b]], both) for a, b in ((i, j), (j, i))
        )
        out[i, j] = out[j, i] = share[i, j] > _BEYOND * explained
    return np.asarray(out)


def _density(edges: Any, labels: Ints, rows: NDArray[np.bool_]) -> float:
    """Return the share of pairs of rows within clusters that are edges."""
    sizes = np.bincount(labels[rows]).astype(np.float64)
    lines = edges.tocoo()
    return float((labels[lines.row] == labels[lines.col]).sum() / max((sizes * (sizes - 1)).sum(), 1.0))


def _voices_agree(labels: Mapping[str, Ints], there: Masks, voice: Ints, generator: np.random.Generator) -> Floats:
    """Return the adjusted mutual information of the clusters of two voices, in the mean of their channels."""
    n_voices = int(voice.max()) + 1
    total, n_pairs = np.zeros((n_voices, n_voices)), np.zeros((n_voices, n_voices))
    for i, (a, of_a) in enumerate(labels.items()):
        for j, (b, of_b) in enumerate(labels.items()):
            if voice[i] < voice[j]:
                rows = np.flatnonzero(there[a] & there[b])
                rows = rows if len(rows) <= _COMPARED else generator.choice(rows, _COMPARED, replace=False)
                agreement = float(adjusted_mutual_info_score(of_a[rows], of_b[rows])) if len(rows) > 1 else 0.0
                total[voice[i], voice[j]] += agreement
                n_pairs[voice[i], voice[j]] += 1
    mean = total / np.maximum(n_pairs, 1)
    return np.asarray(mean + mean.T)


def _structure(rows: Floats, generator: np.random.Generator, leading: Callable[[Floats], float]) -> float:
    """Return by how much the leading eigenvalues exceed those of noise: independent columns, or a normal cloud.

    Columns that are dealt out anew keep their values and lose what they share; a normal cloud keeps the correlations
    and loses the clusters. The larger difference counts; infinity where there are too few rows or columns to judge.
    """
    if len(rows) < _FEWEST or rows.shape[1] < 2:
        return np.inf
    few = rows if len(rows) <= _MOST else rows[np.sort(generator.choice(len(rows), _MOST, replace=False))]
    centred = few - few.mean(axis=0)
    mixed = generator.standard_normal((len(few), len(few))) @ centred / np.sqrt(len(few))
    dealt, cloud = generator.permuted(few, axis=0), mixed + few.mean(axis=0)
    own = leading(few)
    return own - min(leading(_lengths_of(few, dealt)), leading(_lengths_of(few, cloud)))


def _lengths_of(rows: Floats, cloud: Floats) -> Floats:
    """Give noise unit length where rows have it."""
    if not np.allclose(np.linalg.norm(rows, axis=1), 1.0):
        return cloud
    lengths = np.linalg.norm(cloud, axis=1, keepdims=True)
    return np.asarray(cloud / np.where(lengths > 0, lengths, 1.0))


def _edges(W: Any) -> Any:
    lines = W.tocoo()
    off = lines.row != lines.col
    return sp.csr_array((np.ones(int(off.sum())), (lines.row[off], lines.col[off])), shape=W.shape)


def _among(edges: Any, rows: NDArray[np.bool_]) -> Any:
    if rows.all():
        return edges
    keep = sp.diags_array(rows.astype(np.float64))
    out = sp.csr_array(keep @ edges @ keep)
    out.eliminate_zeros()
    return out
