"""Which labels groups of rows may have when some of them must differ: exact where few hang together, else mean field.

Groups joined by "must differ" fall into components. A component of s groups has K^s joint labels; where these are few,
all are listed and those that break an answer get probability 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidelight._core.simplex import xlogx
from sidelight._solvers.mean_field import infer

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

MOST_LABELS = 4096  # joint labels of a component that are listed
MEAN_FIELD_GAIN = 10.0  # log odds of keeping an answer where labels cannot be listed
BLOCK = 2_000_000  # numbers held at a time


class Component(NamedTuple):
    """Components of the same size: their groups (n_components, s), and which joint labels are allowed."""

    groups: Ints
    joint: Ints  # (K^s, s)
    allowed: npt.NDArray[np.bool_]  # (n_components, K^s)


class LabelInference:
    """Inference over groups, prepared once for many beliefs."""

    def __init__(self, n_groups: int, apart: Ints, n_clusters: int) -> None:
        self.n_clusters = n_clusters
        graph = sp.csr_array((np.ones(len(apart)), (apart[:, 0], apart[:, 1])), shape=(n_groups, n_groups))
        _, component = connected_components(graph, directed=False)
        sizes = np.bincount(component, minlength=1)
        most = int(np.log(MOST_LABELS) / np.log(max(n_clusters, 2)))
        listed = sizes[component[apart[:, 0]]] <= most
        self.components = [
            listed_part
            for s in np.unique(sizes[component[apart[listed, 0]]])
            for listed_part in _list_labels(component, apart[listed], sizes, int(s), n_clusters)
        ]
        rest = apart[~listed]
        self.loose, self.links = np.unique(rest), np.zeros((0, 2), dtype=np.intp)
        if len(rest):
            self.links = np.searchsorted(self.loose, rest).astype(np.intp)

    @property
    def is_exact(self) -> bool:
        """Whether all components are small enough to be listed."""
        return not len(self.loose)

    def __call__(self, log_P: Floats) -> tuple[Floats, float]:
        """Return the probability of each label of each group, and the log likelihood (a lower bound if not exact)."""
        top = log_P.max(axis=1, keepdims=True)
        P = np.exp(log_P - top)
        totals = P.sum(axis=1)
        Q = P / totals[:, None]
        value = np.log(totals) + top[:, 0]
        for part in self.components:
            scores = sum(log_P[part.groups[:, j]][:, part.joint[:, j]] for j in range(part.groups.shape[1]))
            scores = np.where(part.allowed, scores, -np.inf)
            peak = scores.max(axis=1, keepdims=True)
            weights = np.exp(scores - peak)
            total = weights.sum(axis=1, keepdims=True)
            for j in range(part.groups.shape[1]):
                Q[part.groups[:, j]] = (weights / total) @ (part.joint[:, j : j + 1] == np.arange(self.n_clusters))
            value[part.groups] = 0.0
            value[part.groups[:, 0]] = np.log(total[:, 0]) + peak[:, 0]
        if len(self.loose):
            value[self.loose] = 0.0
            Q[self.loose], bound = self._mean_field(log_P[self.loose])
            value[self.loose[0]] = bound
        return Q, float(value.sum())

    def _mean_field(self, log_P: Floats) -> tuple[Floats, float]:
        normalised = log_P - np.logaddexp.reduce(log_P, axis=1, keepdims=True)
        none = np.zeros((0, 3), dtype=np.intp)
        q = infer(
            normalised, self.links, np.zeros(len(self.links), dtype=np.intp), none, none[:, 0],
            gain_pair=MEAN_FIELD_GAIN, gain_triplet=MEAN_FIELD_GAIN,
        )  # fmt: skip
        together = (q[self.links[:, 0]] * q[self.links[:, 1]]).sum()
        return q, float((q * log_P - xlogx(q)).sum() - MEAN_FIELD_GAIN * together)


def _list_labels(component: Ints, apart: Ints, sizes: Ints, s: int, K: int) -> list[Component]:
    """List the joint labels of all components of ``s`` groups that some answer is about, a block at a time."""
    chosen = np.unique(component[apart[:, 0]])
    chosen = chosen[sizes[chosen] == s]
    order = np.argsort(component, kind="stable")
    begin = np.concatenate([[0], np.cumsum(sizes)])
    groups = order[begin[chosen][:, None] + np.arange(s)]
    joint = np.stack(np.meshgrid(*[np.arange(K)] * s, indexing="ij"), axis=-1).reshape(-1, s)
    place = np.zeros(len(component), dtype=np.intp)
    place[groups] = np.arange(s)
    which = np.full(len(sizes), -1, dtype=np.intp)
    which[chosen] = np.arange(len(chosen))
    allowed = np.ones((len(chosen), len(joint)), dtype=bool)
    for a, b in apart[which[component[apart[:, 0]]] >= 0]:
        allowed[which[component[a]]] &= joint[:, place[a]] != joint[:, place[b]]
    step = max(1, BLOCK // len(joint))
    return [Component(groups[at : at + step], joint, allowed[at : at + step]) for at in range(0, len(chosen), step)]
