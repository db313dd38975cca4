"""How far answers can be trusted, by their own measure: how many held-out answers a fit to the others breaks.

Held-out answers are needed, because a fit has always bent towards the answers that it saw. On rows whose classes
overlap some held-out answers are broken although they are right; doubting those too is the safer mistake while a rule
is fitted. How often people are wrong is then told by answers that test each other, where there are any.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from sidelight._core.params import as_seed
from sidelight._core.simplex import log_softmax
from sidelight._models.objective import SoftmaxLinear
from sidelight.data.relations import Pairs, Triplets
from sidelight.data.splits import AnswerKFold
from sidelight.estimators.relations import direct
from sidelight.estimators.relations.answered import Answered
from sidelight.estimators.relations.noise import PRIOR, ErrorRates, estimate_errors

# How often answers are wrong, by answers that test each other: along closed paths, or two about one pair.
#
# Of three rows, "same" twice and "different" once cannot all be true. So the kinds of closed triangles tell mistakes
# from rows whose classes overlap, which surprise every fit without anybody being wrong. A triangle is truly all
# alike, has one pair alike, or none; each of its answers is wrong with probability eps. The shares of the three kinds
# and eps are what makes the kinds that were seen likeliest; triangles share answers, so they count for no more than
# the answers in them. With two clusters every closed path is a test: an odd number of "different" on it cannot be
# true. With more, and nothing contradicting anything, answers "same" on closed paths were all right.


Floats = npt.NDArray[np.float64]
GRID = np.linspace(0.0025, 0.45, 180)
_STEPS = 40
MOST_UNTESTED = 0.2  # surprise alone proves no more; see UNKNOWN in trust.py
WORTH = 10.0  # tested answers that an estimate by held-out answers counts for


def error_rate(pairs: Pairs, n_clusters: int, surprise: float) -> float:
    """Return the share of wrong answers, given how large held-out answers make it seem.

    Parameters
    ----------
    pairs : Pairs
        The answers.
    n_clusters : int
        With two, three rows cannot all differ.
    surprise : float
        The estimate by held-out answers, which stands up to a limit where no answers test each other.
    """
    surprise = min(surprise, MOST_UNTESTED)
    prior = float(np.clip(surprise, GRID[0], GRID[-1]))
    log_p = (WORTH * prior - 1.0) * np.log(GRID) + (WORTH * (1.0 - prior) - 1.0) * np.log1p(-GRID)
    tests = _parity(pairs) if n_clusters == 2 else _triangles(pairs)
    if tests is None:
        return surprise
    log_p = log_p + tests
    p = np.exp(log_p - log_p.max())
    found = float(GRID @ p / p.sum())
    return found if n_clusters == 2 or pairs.contradictions(limit=1) else min(found, surprise)


def error_range(pairs: Pairs, n_clusters: int, surprise: float) -> tuple[float, float]:
    """Return between which shares answers are wrong: what answers against answers prove, and what surprises leave open.

    Held-out answers that surprise a fit may be wrong, or the features cannot say: they are an upper end. Where answers
    test each other, nine tenths of what these tests leave likely lie between; where none do, it begins at 0.

    Parameters
    ----------
    pairs, n_clusters, surprise : Pairs, int, float
        As in :func:`error_rate`.
    """
    tests = _parity(pairs) if n_clusters == 2 else _triangles(pairs)
    if tests is None:
        return 0.0, surprise
    log_p = tests + (PRIOR[0] - 1.0) * np.log(GRID) + (PRIOR[1] - 1.0) * np.log1p(-GRID)
    below = np.cumsum(np.exp(log_p - log_p.max()))
    low, high = (float(GRID[np.searchsorted(below, share * below[-1])]) for share in (0.05, 0.95))
    low = 0.0 if low <= GRID[0] else low
    return low, high if surprise < low else min(high, surprise)


def _parity(pairs: Pairs) -> Floats | None:
    """Return the log likelihood of closed paths at every eps, if there are two clusters; None where no path closes."""
    n, apart = pairs.n_rows, pairs.codes != pairs.WORDS.index("same")
    lengths, odd, weights = [], [], []
    near: dict[int, list[tuple[int, int]]] = {}
    for number, (a, b) in enumerate(pairs.rows.tolist()):
        near.setdefault(a, []).append((b, number))
        near.setdefault(b, []).append((a, number))
    above, depth, side = np.full(n, -1), np.full(n, -1), np.zeros(n, dtype=bool)
    in_tree = np.zeros(pairs.n_answers, dtype=bool)
    for start in near:
        if depth[start] >= 0:
            continue
        depth[start], waiting = 0, deque([start])
        while waiting:
            row = waiting.popleft()
            for other, number in near[row]:
                if depth[other] < 0:
                    above[other], depth[other], side[other] = row, depth[row] + 1, side[row] ^ apart[number]
                    in_tree[number] = True
                    if pairs.weights[number] > 1.0:  # said again: a path there and back, which is never odd
                        lengths.append(2)
                        odd.append(False)
                        weights.append(float(pairs.weights[number]) - 1.0)
                    waiting.append(other)
    for number in np.flatnonzero(~in_tree).tolist():
        a, b = pairs.rows[number].tolist()
        odd.append(side[a] ^ side[b] ^ apart[number])
        length = 1
        while a != b:
            if depth[a] < depth[b]:
                a, b = b, a
            a, length = int(above[a]), length + 1
        lengths.append(length)
        weights.append(float(pairs.weights[number]))
    if not lengths:
        return None
    keeps = (1.0 - 2.0 * GRID[:, None]) ** np.array(lengths)
    return np.asarray(np.log(np.where(odd, 1.0 - keeps, 1.0 + keeps) / 2.0) @ np.array(weights))


def _triangles(pairs: Pairs) -> Floats | None:
    """Return the log likelihood of triangles and repeated answers at every eps; None where there are none."""
    ends, same = np.sort(pairs.rows, axis=1), pairs.codes == pairs.WORDS.index("same")
    n = pairs.n_rows
    votes = [csr_array((pairs.weights * word, (ends[:, 0], ends[:, 1])), shape=(n, n)) for word in (same, ~same)]
    differ = float(votes[0].multiply(votes[1]).sum())
    agree = sum(float(np.maximum(one.data**2 - one.data, 0.0).sum()) / 2.0 for one in votes)
    S, D = (csr_array((one + one.T) > 0).astype(float) for one in votes)
    SS, DD = S @ S, D @ D
    kinds = [
        D.multiply(DD).sum() / 6.0,
        S.multiply(DD).sum() / 2.0,
        D.multiply(SS).sum() / 2.0,
        S.multiply(SS).sum() / 6,
    ]
    counts, whole = np.array(kinds), csr_array((S + D) > 0).astype(float)
    n_closed = 0.0
    if not pairs.contradictions(limit=1):
        n_closed = max(float(pairs.weights[same].sum()) - _rank(pairs.rows[same], n), 0.0)
    if not counts.sum() + agree + differ + n_closed:
        return None
    twice = 2.0 * GRID * (1.0 - GRID)
    log_p = agree * np.log1p(-twice) + differ * np.log(twice) + n_closed * np.log1p(-GRID)
    if counts.sum():
        n_answers = float(whole.multiply(whole @ whole).astype(bool).sum()) / 2.0
        fits = np.array([_fit(counts, np.array([_seen(true, eps) for true in (3, 1, 0)])) for eps in GRID])
        log_p = log_p + min(n_answers / (3.0 * counts.sum()), 1.0) * fits
    return np.asarray(log_p)


def _rank(ends: npt.NDArray[np.intp], n: int) -> int:
    """Return how many answers a forest over the same rows has."""
    graph = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    return n - int(connected_components(graph, directed=False)[0])


def _seen(n_alike: int, eps: float) -> Floats:
    """Return the chance of 0 to 3 answers "same" about three rows of which so many pairs are alike."""
    alike = np.array([comb(n_alike, k) * (1 - eps) ** k * eps ** (n_alike - k) for k in range(n_alike + 1)])
    n_apart = 3 - n_alike
    apart = np.array([comb(n_apart, k) * eps**k * (1 - eps) ** (n_apart - k) for k in range(n_apart + 1)])
    return np.convolve(alike, apart)


def _fit(counts: Floats, chances: Floats) -> float:
    """Return the log likelihood of counts at the best shares of what is true (expectation maximisation)."""
    shares = np.full(len(chances), 1.0 / len(chances))
    for _ in range(_STEPS):
        joint = shares[:, None] * chances
        shares = (joint / joint.sum(axis=0) * counts).sum(axis=1) / counts.sum()
    return float(counts @ np.log(shares @ chances))


FEWEST = 25  # answers; of fewer nothing can be held out
UNKNOWN = 0.2  # the share of wrong answers that so few are taken to hold: the rows have to help
MANY = 300  # answers; of so many two folds tell enough, of fewer five are needed
ROUNDS = 2  # a fit that trusted wrong answers blurs the truths, so a large share is estimated again by one that doubts
SHARPNESSES = (1.0, 2.0, 4.0, 8.0)  # what beliefs are multiplied by
BLUNT = 0.5  # the same for many answers, which can tell a fit that is too sure from answers that are wrong
OTHERS = 1_000  # rows whose information such a fit looks at, beside those that answers are about
KINDS = 2  # kinds of starts that are tried again in further folds: those that were best in the first
DOUBTED = 0.1  # the share of wrong answers from which tau makes a difference that held-out answers can see
STEPS = 60  # L-BFGS iterations of a fit that only has to be judged
DOUBTFUL_SHARPNESS = 4.0  # of fits with so much doubt, as held-out answers choose it where there are enough
BINS = 10  # of how sure pairs are
TEMPERATURES = np.geomspace(0.1, 10.0, 41)  # of probabilities that are shown
LEAST_WRONG = 0.0025  # one slip of the pen in 400 answers is no news
CAUTION, MOST = 1.25, 0.25  # the share of wrong answers to fit with, as a multiple of the estimate, and its limit


@dataclass(frozen=True, slots=True)
class HeldOutPairs:
    """Answers about pairs that a fit did not see: log P of both rows by that fit, whether "same" was said, weights."""

    left: Floats
    right: Floats
    said_same: npt.NDArray[np.bool_]
    weights: Floats

    @classmethod
    def of(cls, held_out: list[Answered], beliefs: list[Floats]) -> HeldOutPairs:
        """Put the folds together."""
        folds = [(part.pairs, log_P) for part, log_P in zip(held_out, beliefs)]
        return cls(
            np.concatenate([log_P[pairs.left] for pairs, log_P in folds]),
            np.concatenate([log_P[pairs.right] for pairs, log_P in folds]),
            np.concatenate([pairs.codes == Pairs.WORDS.index("same") for pairs, _ in folds]),
            np.concatenate([pairs.weights for pairs, _ in folds]),
        )

    def same(self, temperature: float) -> Floats:
        """Return the chance that both rows are in one cluster, with beliefs of this temperature."""
        left, right = (log_softmax(log_P / temperature) for log_P in (self.left, self.right))
        return np.asarray(np.exp(left + right).sum(axis=1))

    def temperature(self, wrong: float) -> float:
        """Return the temperature at which the answers are likeliest, a share ``wrong`` of them being wrong."""

        def value(temperature: float) -> float:
            same = self.same(temperature)
            agrees = np.where(self.said_same, same, 1.0 - same)
            told = np.log((1.0 - wrong) * agrees + wrong * (1.0 - agrees))
            return float(self.weights @ told) - 0.5 * np.log(temperature) ** 2

        return max(TEMPERATURES.tolist(), key=value)

    def calibration(self, wrong: float) -> dict[str, Any]:
        """Say how sure rows may be, and how right pairs are that are called sure.

        A share ``wrong`` of the answers is wrong, which makes right pairs look wrong: no more than answers prove of
        each other. What else surprises counts against the features, so that doubt makes rows less sure, never surer.
        """
        temperature = self.temperature(max(wrong, LEAST_WRONG))
        same = self.same(temperature)
        said, agrees = np.maximum(same, 1.0 - same), (same >= 0.5) == self.said_same
        place = np.minimum((said * BINS).astype(np.intp), BINS - 1)
        n_rows = np.bincount(place, minlength=BINS)
        used = np.flatnonzero(n_rows)
        means = [np.bincount(place, weights=of, minlength=BINS)[used] / n_rows[used] for of in (said, agrees)]
        right = np.clip((means[1] - wrong) / (1.0 - 2.0 * wrong), 0.0, 1.0)
        table = {"said": means[0], "right": right, "rows": n_rows[used]}
        return {"temperature": temperature, "n_answers": len(said), "reliability": table}


@dataclass(frozen=True, slots=True)
class Trust:
    """How often answers are wrong, and what to fit with: the share of wrong answers to allow for, and tau.

    ``tau`` is None where it shall grow with doubt (see ``direct.weigh``). ``sharpness`` is what the beliefs of a fit
    are multiplied by where they are weighed against answers: penalised fits are too unsure.
    """

    rates: ErrorRates
    eps: float
    tau: float | None
    sharpness: float = 1.0
    eps_range: tuple[float, float] | None = None  # between which shares answers are wrong; None where it is given
    held_out: HeldOutPairs | None = None

    def answered(self, pairs: Pairs, triplets: Triplets) -> Answered:
        """Return the answers as a fit is to believe them."""
        if self.rates.differ:
            return self.rates.believed(pairs, triplets)
        return Answered.evenly(pairs, triplets, self.eps)


def estimate_error_rate(
    terrain: direct.StartSpace,
    pairs: Pairs,
    triplets: Triplets,
    settings: direct.Settings,
    generator: np.random.Generator,
    *,
    confusion: bool,
) -> Trust:
    """Estimate how often answers are wrong from answers that were held out; too few of them are taken for doubtful.

    Held-out answers that are broken may be wrong, or right ones about rows whose classes overlap. And where answers are
    wrong the rows may have to count more, or may mislead, because the classes are not where the rows are dense. So
    held-out answers also decide whether to fit with doubt at all, and whether tau grows with it.
    """
    if max(pairs.n_answers, triplets.n_answers) < FEWEST:
        return doubtful(settings.tau)
    eps, seed = direct.TRUSTED, as_seed(generator)
    reached: list[Floats] = []  # where the fit of each fold ended: the next round goes on from there
    tried: list[tuple[float, float, float | None, float]] = []  # likelihood of held-out answers; eps, tau, sharpness
    told: list[HeldOutPairs] = []  # the same trials

    def fit_folds(eps: float, tau: float | None) -> ErrorRates:
        nonlocal reached
        fits = replace(settings, tau=tau)
        held_out, beliefs, reached = beliefs_about(terrain, pairs, triplets, fits, eps, seed, reached=reached)
        likelihood, rates, sharpness, same = _likeliest(held_out, beliefs, confusion)
        tried.append((likelihood, eps, tau, sharpness))
        told.append(same)
        return rates

    for _ in range(ROUNDS):
        rates = fit_folds(eps, settings.tau)
        believed, eps = eps, cautious(rates.eps)
        if eps <= believed:  # the fits had doubted enough
            break
    if rates.eps <= direct.TRUSTED:
        tried = tried[:1]  # a fit that doubted them finds the answers right
    elif eps > DOUBTED and settings.tau is None:
        for tau in (None, direct.TAU):
            fit_folds(eps, tau)
    best = max(range(len(tried)), key=lambda trial: tried[trial][0])
    _, eps, tau, sharpness = tried[best]
    between = 0.0, rates.eps
    if pairs.n_answers >= triplets.n_answers:  # else they say too little about the others
        low, high = error_range(pairs, settings.n_clusters, rates.eps)
        rates = rates.scaled(error_rate(pairs, settings.n_clusters, rates.eps))
        between = min(low, rates.eps), max(high, rates.eps)
    return Trust(rates, eps, tau, sharpness, between, told[best])


def beliefs_about(
    terrain: direct.StartSpace,
    pairs: Pairs,
    triplets: Triplets,
    settings: direct.Settings,
    eps: float,
    seed: int,
    *,
    reached: Sequence[Floats] = (),
    n_folds: int | None = None,
    fewest: int = FEWEST,
    n_kinds: int = KINDS,
) -> tuple[list[Answered], list[Floats], list[Floats]]:
    """Return the answers of each fold, log P by a brief fit that did not see them, and the parameters of that fit."""
    quick = replace(settings, n_init=1, max_iter=STEPS, max_rows=min(settings.max_rows, OTHERS))
    model = SoftmaxLinear(terrain.features.shape[1], settings.n_clusters)
    n_folds = n_folds or (5 if pairs.n_answers + triplets.n_answers < MANY else 2)
    held_out, beliefs, ends, kinds = [], [], [], list[str]()
    for fold, (known, others) in enumerate(_folds(pairs, triplets, n_folds, seed, fewest)):
        answered, generator = Answered.evenly(known[0], known[1], eps), np.random.default_rng(seed)
        if reached:
            weights = direct.weigh(quick, terrain, eps)
            solution = direct.follow(terrain.rough, answered, quick, weights, reached[fold], generator)
        else:
            fit = direct.learn(terrain, answered, quick, eps, generator, n_followed=1, kinds=kinds, rough=True)
            solution, kinds = fit.solution, fit.kinds[:n_kinds]
        held_out.append(Answered.evenly(others[0], others[1], eps))
        beliefs.append(model.log_posterior(solution.parameters, terrain.rough))
        ends.append(solution.parameters)
    return held_out, beliefs, ends


def _likeliest(
    held_out: list[Answered], beliefs: list[Floats], confusion: bool
) -> tuple[float, ErrorRates, float, HeldOutPairs]:
    """Return the log likelihood of held-out answers, the rates and the sharpness of beliefs that it is largest at, and
    what was believed of pairs.

    Penalised fits are too unsure: with beliefs as they are, every answer about rows that a fit is unsure of would
    speak for no mistakes at all.
    """
    first = held_out[0]
    pairs = sum((part.pairs for part in held_out[1:]), first.pairs)
    triplets = sum((part.triplets for part in held_out[1:]), first.triplets)
    fits: list[tuple[float, ErrorRates, float]] = []
    for sharpness in (BLUNT, *SHARPNESSES) if pairs.n_answers + triplets.n_answers >= MANY else SHARPNESSES:
        posteriors = [np.exp(log_softmax(sharpness * log_P)) for log_P in beliefs]
        truths = [part.truths(P) for part, P in zip(held_out, posteriors)]
        T = np.concatenate([t[0] for t in truths]), np.concatenate([t[1] for t in truths])
        rates = estimate_errors(Answered.evenly(pairs, triplets, UNKNOWN), T, confusion=confusion)
        likelihood = rates.believed(pairs, triplets).log_likelihood_of(T)
        fits.append((likelihood, rates, sharpness))
    return *max(fits, key=lambda fit: fit[0]), HeldOutPairs.of(held_out, beliefs)


def cautious(eps: float) -> float:
    """Return the share of wrong answers to fit with, for an estimated share."""
    return float(np.clip(CAUTION * eps, direct.TRUSTED, MOST))


def _folds(
    pairs: Pairs, triplets: Triplets, n_folds: int, seed: int, fewest: int
) -> Iterator[tuple[tuple[Pairs, Triplets], tuple[Pairs, Triplets]]]:
    """Yield (known, held out) for each fold; a kind with too few answers is known everywhere and never held out."""
    folds = AnswerKFold(n_folds, random_state=seed)
    no_pairs, no_triplets = Pairs.empty(pairs.n_rows), Triplets.empty(triplets.n_rows)
    pair_folds = list(folds.split(pairs)) if pairs.n_answers >= fewest else [(pairs, no_pairs)] * n_folds
    triplet_folds = list(folds.split(triplets)) if triplets.n_answers >= fewest else [(triplets, no_triplets)] * n_folds
    for (pairs_in, pairs_out), (triplets_in, triplets_out) in zip(pair_folds, triplet_folds):
        yield (pairs_in, triplets_in), (pairs_out, triplets_out)


def doubtful(tau: float | None) -> Trust:
    """Return the trust in answers that are too few to tell: the rows have to help."""
    return Trust(ErrorRates.evenly(UNKNOWN), cautious(UNKNOWN), tau, DOUBTFUL_SHARPNESS, (0.0, UNKNOWN))
