"""How well rows fall into given clusters, without labels: how much other rows tell about the cluster of a row.

Two kinds of others are asked: the nearest rows, and a linear rule that was learnt from the other half; each says a
share of log K. Their sum is divided by the root of the entropy of the clusters: uneven clusters are allowed, one large
cluster with a few odd rows beside it wins nothing. Scores of different ways, and of different numbers of clusters, may
be compared.
"""

from __future__ import annotations

import numpy as np

from sidelight._affinity.neighbours import nearest_rows
from sidelight._affinity.similarities import graph_local_scaling

COMPONENTS = 30  # in which rows are judged: in more, every row is far from every other
NEAREST = 10
_OF_RULE = 0.4  # what a linear rule counts beside the nearest rows: .3 and .5 choose nearly the same
_RIDGE = 1e-2  # of the covariance, towards a ball: halves of few rows


class Judge:
    """Asks rows, once known, about any clusters of them.

    Parameters
    ----------
    components : ndarray of shape (n_rows, n_components)
        The leading components of more than ``NEAREST`` rows.
    generator : Generator
        Draws halves.
    """

    def __init__(self, components: np.ndarray, generator: np.random.Generator) -> None:
        self.components, self._generator = components, generator
        near = nearest_rows(components, NEAREST, generator=generator)
        self._nearest = graph_local_scaling(near)[0]

    def score(self, labels: np.ndarray, n_clusters: int) -> float:
        """Return how much other rows tell about the clusters, relative to the root of their entropy."""
        own = np.eye(labels.max() + 1)[labels]
        shares = own.mean(axis=0)
        shares = shares[shares > 0]
        entropy = -float(shares @ np.log(shares))
        if entropy <= 0:
            return 0.0
        told = _information(own.T @ (self._nearest @ own)) + _OF_RULE * self._by_a_rule(own)
        return told / float(np.sqrt(entropy * np.log(n_clusters)))

    def _by_a_rule(self, own: np.ndarray) -> float:
        """Return what linear discriminants that were learnt from one half tell about the clusters of the other."""
        half = self._generator.permutation(len(own)) % 2 == 0
        joint = np.zeros((own.shape[1], own.shape[1]))
        for learns in (half, ~half):
            joint += _discriminants(self.components, own, learns)
        return _information(joint)


def leading_components(rows: np.ndarray) -> np.ndarray:
    """Return the leading principal components of centred rows."""
    _, directions = np.linalg.eigh(rows.T @ rows)
    return np.asarray(rows @ directions[:, ::-1][:, :COMPONENTS])


def _discriminants(rows: np.ndarray, own: np.ndarray, learns: np.ndarray) -> np.ndarray:
    """Learn linear discriminants from some rows, and count clusters against what they say of the others."""
    sizes = own[learns].sum(axis=0)
    used = sizes > 0
    means = (own[learns].T @ rows[learns])[used] / sizes[used, None]
    within = rows[learns] - (own[learns][:, used] @ means)
    covariance = within.T @ within / max(len(within), 1)
    ball = np.trace(covariance) / len(covariance)
    covariance = (1.0 - _RIDGE) * covariance + _RIDGE * max(ball, np.finfo(float).tiny) * np.eye(len(covariance))
    W = np.linalg.solve(covariance, means.T)
    scores = rows[~learns] @ W - 0.5 * np.einsum("ij,ji->i", means, W) + np.log(sizes[used] / sizes.sum())
    joint = np.zeros((own.shape[1], own.shape[1]))
    np.add.at(joint, (np.argmax(own[~learns], axis=1), np.flatnonzero(used)[np.argmax(scores, axis=1)]), 1.0)
    return joint


def _information(joint: np.ndarray) -> float:
    """Return the mutual information of a table of counts, in nats."""
    P = joint / max(float(joint.sum()), np.finfo(float).tiny)
    apart = np.outer(P.sum(axis=1), P.sum(axis=0))
    there = P > 0
    return float((P[there] * np.log(P[there] / apart[there])).sum())
