"""Exact inference on forests of discrete variables: sum-product for marginals.

    log weight(states) = sum_v node_logs[v, states[v]] + sum_v edge_logs[v, states[parents[v]], states[v]]

Every node but a root carries the table of the edge to its parent. Leading axes are a batch (rows, particles) and
broadcast. Messages stay logarithms and the way down multiplies conditionals, so nothing divides by a message: tables
with zeros (-inf) are fine as long as some states have weight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidelight._core.forest import levels
from sidelight.errors import InvalidData

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Marginals(NamedTuple):
    """What sum-product finds."""

    nodes: Floats  # (..., n, K): P(state of v)
    edges: Floats  # (..., n, K, K): P(state of the parent of v, state of v); 0 at roots
    log_partition: Floats  # (...): log of the sum of all weights


def sum_product(node_logs: ArrayLike, edge_logs: ArrayLike, parents: ArrayLike) -> Marginals:
    """Compute all marginals of nodes and edges, and the log partition function.

    Parameters
    ----------
    node_logs : array-like of shape (..., n, K)
        Log potential of each state of each node.
    edge_logs : array-like of shape (..., n, K, K)
        ``edge_logs[..., v, a, b]``: log potential of state a of v's parent with state b of v; ignored at roots.
    parents : array-like of shape (n,)
        The parent of each node, -1 at roots.

    Raises
    ------
    InvalidData
        When no configuration has any weight.
    """
    nodes, tables, tree = _as_model(node_logs, edge_logs, parents)
    beliefs, messages, log_partition = _upwards(nodes, tables, tree)
    _refuse_impossible(log_partition)
    K = nodes.shape[-1]
    P = np.zeros_like(beliefs)
    pairs = np.zeros((*beliefs.shape, K))
    roots = tree.levels[0]
    P[..., roots, :] = _normalise(beliefs[..., roots, :])
    for below in tree.levels[1:]:
        # P(state b of v | state a of its parent) = exp(table[a, b] + belief[b] - message[a])
        logs = tables[..., below, :, :] + beliefs[..., below, None, :]
        message = messages[..., below, :, None]
        given = np.exp(logs - np.where(message == -np.inf, np.inf, message))  # an impossible parent state: 0
        pairs[..., below, :, :] = P[..., tree.parents[below], :, None] * given
        P[..., below, :] = pairs[..., below, :, :].sum(axis=-2)
    return Marginals(P, pairs, log_partition)


class _Tree(NamedTuple):
    parents: Ints
    levels: list[Ints]


def _as_model(node_logs: ArrayLike, edge_logs: ArrayLike, parents: ArrayLike) -> tuple[Floats, Floats, _Tree]:
    nodes, tables = np.asarray(node_logs, dtype=np.float64), np.asarray(edge_logs, dtype=np.float64)
    parents = np.asarray(parents, dtype=np.intp)
    n, K = nodes.shape[-2:]
    if tables.shape[-3:] != (n, K, K) or parents.shape != (n,) or n == 0:
        raise InvalidData(
            f"Node potentials {nodes.shape} need edge potentials (..., {n}, {K}, {K}) and {n} parents (at least one "
            f"node). Got {tables.shape} and {parents.shape}."
        )
    return nodes, tables, _Tree(parents, levels(parents))


def _upwards(nodes: Floats, tables: Floats, tree: _Tree) -> tuple[Floats, Floats, Floats]:
    """Pass messages from the leaves to the roots.

    Returns beliefs (own potential plus all messages from below), the message of each node to its parent, and the log
    of the summed weight of all configurations, trees multiplied together.
    """
    batch = np.broadcast_shapes(nodes.shape[:-2], tables.shape[:-3])
    beliefs = np.array(np.broadcast_to(nodes, (*batch, *nodes.shape[-2:])))
    messages = np.zeros_like(beliefs)
    for below in reversed(tree.levels[1:]):
        sent = _log_sum(tables[..., below, :, :] + beliefs[..., below, None, :])
        messages[..., below, :] = sent
        above = tree.parents[below]  # siblings lie together in a level
        first = np.flatnonzero(np.diff(above, prepend=-2))
        beliefs[..., above[first], :] += np.add.reduceat(sent, first, axis=-2)
    return beliefs, messages, _log_sum(beliefs[..., tree.levels[0], :]).sum(axis=-1)


def _log_sum(logs: Floats) -> Floats:
    top = logs.max(axis=-1)
    safe = np.where(top == -np.inf, 0.0, top)
    with np.errstate(divide="ignore"):  # log 0 = -inf is what an impossible state is worth
        return np.log(np.exp(logs - safe[..., None]).sum(axis=-1)) + safe


def _normalise(logs: Floats) -> Floats:
    P = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return P / P.sum(axis=-1, keepdims=True)


def _refuse_impossible(log_weight: Floats) -> None:
    if not np.all(np.isfinite(log_weight)):
        where = np.argwhere(~np.isfinite(log_weight))[0]
        at = f" (batch entry {tuple(int(i) for i in where)})" if len(where) else ""
        raise InvalidData(
            f"No configuration of the forest has a finite positive weight{at}. "
            "Soften the potentials that forbid every state."
        )
