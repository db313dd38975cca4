"""Deterministic annealing ([B04] 5.1) against the co-clusterers that ship: information kept and time.

The prototype below keeps soft clusters of rows and columns, q(k | i) ~ q(k) exp(-beta D_KL(profile i || profile k)),
lets both sides take turns while beta grows, and hands the hard clusters to Dhillon's alternation. It is kept here, and
not in the library, for the reason that docs/decisions gives.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import sidelight as sl
from bench_sources import blocks
from runner import Sheet

TITLE = "Sources: deterministic annealing, tried"
SEEDS = range(5)
TINY = 1e-300  # keeps logs finite


def fill(sheet: Sheet) -> None:
    """Run every method on every table from five seeds."""
    sheet.notes.append(
        "Nats kept: mean, least and most over five seeds. Seconds: mean by the clock. Deterministic annealing: beta "
        "from 1 to 300 by the factor given, three rounds each, then Dhillon's alternation; with and without q(k) in "
        "the formula."
    )
    methods: dict[str, Callable[[Any, int, int], float]] = {
        "AnnealedCoclustering, one start": lambda P, k, s: _kept(
            sl.estimators.AnnealedCoclustering(k, n_init=1, random_state=s), P
        ),
        "InformationCoclustering, ten starts": lambda P, k, s: _kept(sl.InformationCoclustering(k, random_state=s), P),
        "deterministic annealing, 1.15, with q(k)": lambda P, k, s: deterministic(P, k, s, 1.15, prior=True),
        "deterministic annealing, 1.05": lambda P, k, s: deterministic(P, k, s, 1.05),
        "deterministic annealing, 1.15": lambda P, k, s: deterministic(P, k, s, 1.15),
        "deterministic annealing, 1.6": lambda P, k, s: deterministic(P, k, s, 1.6),
    }
    rows = []
    for name, P, k in tables():
        for method, run in methods.items():
            if not rows or rows[-1][0] == rows[0][0]:
                run(P, k, SEEDS[0])  # loads what is compiled, which takes longer than the small table
            begin = time.perf_counter()
            kept = [run(P, k, seed) for seed in SEEDS]
            spent = (time.perf_counter() - begin) / len(kept)
            rows.append((name, method, f"{np.mean(kept):.4f}", f"{min(kept):.4f}", f"{max(kept):.4f}", f"{spent:.3g}"))
    sheet.section("Information kept and time", ("table", "method", "nats", "least", "most", "seconds"), rows)


def tables() -> list[tuple[str, Any, int]]:
    """Return blocks with noise, small and large, and the faces and jackets of generated people."""
    found = [("blocks 32 x 32", blocks(32), 10), ("blocks 2000 x 2000", blocks(2000), 10)]
    for n in (5, 10):
        table = sl.data.make_sources(n, random_state=0).cooccurrence("face", "upper")
        found.append((f"make_sources, face/upper, {n} subjects", table.to_csr(), n))
    return found


def deterministic(P: Any, k: int, seed: int, growth: float, *, prior: bool = False) -> float:
    """Anneal soft clusters of both sides, harden them, and return the information they keep after Dhillon's finish."""
    P, rng = sp.csr_array(P) if sp.issparse(P) else np.asarray(P), np.random.default_rng(seed)
    there = np.asarray(P.sum(axis=1)).ravel() > 0, np.asarray(P.sum(axis=0)).ravel() > 0
    P = P[there[0]][:, there[1]] / P.sum()
    R, C = (rng.dirichlet(np.full(k, 100.0), size=n) for n in P.shape)  # nearly even: the order breaks by itself
    beta = 1.0
    while beta < 300.0:
        for _ in range(3):
            R = _soft(np.asarray(P @ C), R, beta, prior)
            C = _soft(np.asarray(P.T @ R), C, beta, prior)
        R, C = (W * np.exp(1e-3 * rng.standard_normal(W.shape)) for W in (R, C))  # lets equal clusters part
        R, C = (W / W.sum(axis=1, keepdims=True) for W in (R, C))
        beta *= growth
    start = R.argmax(axis=1), C.argmax(axis=1)
    return float(sl.InformationCoclustering(k).fit(P, init=start).information_)


def _soft(profiles: np.ndarray, belonging: np.ndarray, beta: float, prior: bool) -> np.ndarray:
    """Return q(k | i) for profiles over the other side's soft clusters."""
    mass = profiles.sum(axis=1, keepdims=True)
    centres = belonging.T @ profiles
    size = centres.sum(axis=1)
    logits = beta * (profiles / mass) @ np.log(centres / np.maximum(size[:, None], TINY) + TINY).T
    logits += np.log(size + TINY) if prior else 0.0
    W = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(W / W.sum(axis=1, keepdims=True))


def _kept(estimator: Any, P: Any) -> float:
    return float(estimator.fit(P).information_)
