"""How far answers can be trusted, by their own measure: how many held-out answers a fit to the others breaks.

Held-out answers are needed, because a fit has always bent towards the answers that it saw. On rows whose classes
overlap some held-out answers are broken although they are right; doubting those too is the safer mistake.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sidelight._core.params import as_seed
from sidelight._models.softmax_linear import SoftmaxLinear
from sidelight.data.relations import Pairs, Triplets
from sidelight.data.splits import AnswerKFold
from sidelight.estimators.relations import direct
from sidelight.estimators.relations.answered import Answered
from sidelight.estimators.relations.noise import ErrorRates, estimate_errors

Floats = npt.NDArray[np.float64]

FEWEST = 25  # answers; of fewer nothing can be held out
UNKNOWN = 0.2  # the share of wrong answers that so few are taken to hold: the rows have to help
MANY = 300  # answers; of so many two folds tell enough, of fewer five are needed
STEPS = 60  # L-BFGS iterations of a fit that only has to be judged
CAUTION, MOST = 1.25, 0.25  # the share of wrong answers to fit with, as a multiple of the estimate, and its limit


def examine(
    terrain: direct.Terrain,
    pairs: Pairs,
    triplets: Triplets,
    settings: direct.Settings,
    generator: np.random.Generator,
    *,
    confusion: bool,
) -> ErrorRates | None:
    """Estimate how often answers are wrong from answers that were held out; None when they are too few."""
    if max(pairs.n_answers, triplets.n_answers) < FEWEST:
        return None
    quick = replace(settings, n_init=1, max_iter=STEPS)
    model, seed = SoftmaxLinear(terrain.features.shape[1], settings.n_clusters), as_seed(generator)
    n_folds = 5 if pairs.n_answers + triplets.n_answers < MANY else 2
    judged, of_pairs, of_triplets = [], [], []
    for known, others in _folds(pairs, triplets, n_folds, seed):
        answered = Answered.evenly(known[0], known[1], direct.TRUSTED)
        fit = direct.learn(terrain, answered, quick, direct.TRUSTED, np.random.default_rng(seed))
        P = np.exp(model.log_posterior(fit.solution.parameters, terrain.features))
        held_out = Answered.evenly(others[0], others[1], direct.TRUSTED)
        truths = held_out.truths(P)
        judged.append(held_out)
        of_pairs.append(truths[0])
        of_triplets.append(truths[1])
    pooled = Answered.evenly(
        sum((part.pairs for part in judged[1:]), judged[0].pairs),
        sum((part.triplets for part in judged[1:]), judged[0].triplets),
        direct.TRUSTED,
    )
    return estimate_errors(pooled, (np.concatenate(of_pairs), np.concatenate(of_triplets)), confusion=confusion)


def cautious(eps: float) -> float:
    """Return the share of wrong answers to fit with, for an estimated share."""
    return float(np.clip(CAUTION * eps, direct.TRUSTED, MOST))


def _folds(
    pairs: Pairs, triplets: Triplets, n_folds: int, seed: int
) -> Iterator[tuple[tuple[Pairs, Triplets], tuple[Pairs, Triplets]]]:
    """Yield (known, held out) for each fold; a kind with too few answers is known everywhere and never held out."""
    folds = AnswerKFold(n_folds, random_state=seed)
    no_pairs, no_triplets = Pairs.empty(pairs.n_rows), Triplets.empty(triplets.n_rows)
    pair_folds = list(folds.split(pairs)) if pairs.n_answers >= FEWEST else [(pairs, no_pairs)] * n_folds
    triplet_folds = list(folds.split(triplets)) if triplets.n_answers >= FEWEST else [(triplets, no_triplets)] * n_folds
    for (pairs_in, pairs_out), (triplets_in, triplets_out) in zip(pair_folds, triplet_folds):
        yield (pairs_in, triplets_in), (pairs_out, triplets_out)
