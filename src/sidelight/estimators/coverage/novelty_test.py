"""Is there anything novel at all? Lists of held-out bags, explained with and without a novel cluster."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.utils.validation import check_array

from sidelight._core.params import as_generator, as_seed, check_number
from sidelight._core.prototypes import mean_and_scale, scaled
from sidelight.data.coerce import as_bags
from sidelight.data.splits import BagKFold
from sidelight.errors import InvalidData, as_invalid_data, ignore_warnings
from sidelight.estimators.coverage.clustering import CoverageClustering
from sidelight.progress import report

SLIP = 0.01  # chance of a wrong or forgotten label: without it one slip of a pen would prove something novel


@dataclass(frozen=True, slots=True)
class NoveltyTest:
    """What held-out lists say about kinds that no list names.

    Attributes
    ----------
    p_value : float
        The larger of two: exp(-log_bayes_factor), and the p-value of a one-sided t-test of the gains.
    log_bayes_factor : float
        How much more probable all held-out lists are with novel clusters than without, in nats.
    gains : ndarray
        The same for each labelled bag.
    bags : tuple
        The names of those bags.
    novelty : ndarray of shape (n_rows,)
        The probability of each row to be novel, given its bag's list, if anything is.
    rows : ndarray
        The rows, the most novel first.
    """

    p_value: float
    log_bayes_factor: float
    gains: np.ndarray
    bags: tuple[Hashable, ...]
    novelty: np.ndarray
    rows: np.ndarray


def novelty_test(X: Any, bags: Any, *, n_novel: int = 1, cv: int = 5, random_state: Any = None) -> NoveltyTest:
    """Test whether some rows fit no listed label.

    Coverage clustering is fitted on folds of whole bags, without and with novel clusters, and predicts the lists of
    the bags that it did not see. A novel kind makes lists easier to predict, because its rows need no longer be
    explained by known labels. Rows are standardised inside; boundaries are straight, so that a class of several
    separate groups can also raise an alarm: look at the rows.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        The rows.
    bags : Bags
        The labelled bags.
    n_novel : int, default=1
        Novel clusters of the alternative.
    cv : int, default=5
        Folds of whole bags.
    random_state : int, RandomState, Generator or None, default=None
        Seed of folds and starts.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> generator = np.random.default_rng(0)
    >>> kind = generator.integers(3, size=120)
    >>> X = 6.0 * np.eye(3)[kind] + generator.normal(size=(120, 3))
    >>> bag = np.arange(120) // 3
    >>> lists = {b: {"ab"[k] for k in kind[bag == b] if k < 2} for b in range(40)}
    >>> found = sl.novelty_test(X, sl.Bags(bag, labels=lists), random_state=0)
    >>> found.p_value < 0.05, set(kind[found.rows[:10]].tolist())
    (True, {2})
    """
    check_number("novelty_test", "n_novel", n_novel, integer=True, low=1)
    check_number("novelty_test", "cv", cv, integer=True, low=2)
    with as_invalid_data("novelty_test"):
        X = check_array(X, accept_sparse="csr", dtype="float64")
    bags = as_bags(bags, n_rows=X.shape[0])
    n_labelled = int(bags.is_labelled.sum())
    if n_labelled < cv:
        raise InvalidData(
            f"novelty_test holds out lists in cv={cv} folds, but only {n_labelled} bags have one. "
            "Label more bags, or lower cv."
        )
    generator = as_generator(random_state)
    X = scaled(X, *mean_and_scale(X))
    plain = CoverageClustering(
        boundary="straight", calibrate=False, information=0.0, wrong=SLIP, forgotten=SLIP, n_init=4,
        random_state=as_seed(generator),
    )  # fmt: skip
    gains = np.zeros(bags.n_bags)
    splits = BagKFold(cv, shuffle=True, random_state=as_seed(generator)).split(X, groups=bags)
    with ignore_warnings():  # short bags and folds without a label are no news here
        for done, (train, test) in enumerate(splits):
            report("comparing held-out lists", done, cv)
            held_out = bags[test]
            without, novel = (
                clone(plain).set_params(n_novel=n).fit(X[train], bags=bags[train]).bag_scores(X[test], held_out)
                for n in (0, n_novel)
            )
            place = {name: b for b, name in enumerate(bags.names)}
            labelled = [place[name] for name, told in zip(held_out.names, held_out.is_labelled) if told]
            gains[labelled] = novel - without
        novelty = clone(plain).set_params(n_novel=n_novel).fit(X, bags=bags).novelty_score(X, bags=bags)
    gains = gains[bags.is_labelled]
    names = tuple(name for name, told in zip(bags.names, bags.is_labelled) if told)
    total = float(gains.sum())
    p_value = max(float(np.exp(-max(total, 0.0))), _one_sided(gains))
    return NoveltyTest(p_value, total, gains, names, novelty, np.argsort(-novelty, kind="stable"))


def _one_sided(gains: np.ndarray) -> float:
    """Return the p-value of a t-test that the mean gain is above 0; 1 when nothing was gained anywhere."""
    spread = gains.std(ddof=1) / np.sqrt(len(gains))
    if spread == 0:
        return 1.0
    return float(student.sf(gains.mean() / spread, len(gains) - 1))
