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
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags
from sidelight.data.splits import BagKFold
from sidelight.errors import InvalidData, as_invalid_data, ignore_warnings
from sidelight.estimators._labelled_bags.row_temperature import HeldOutRows
from sidelight.estimators.coverage.clustering import CoverageClustering
from sidelight.estimators.coverage.novel_rows import SLIP, NovelRows
from sidelight.progress import report


@dataclass(frozen=True, slots=True)
class NoveltyTest:
    """What held-out lists say about kinds that no list names.

    Attributes
    ----------
    p_value : float
        The largest of three: exp(-log_bayes_factor), the p-value of a one-sided t-test of the gains, and how little
        rows one by one speak for a novel cluster (exp(-sum of the tempered gains) or the p-value of their t-test,
        whichever is smaller). A complete list without labels proves something novel by itself: tempered gains then do
        not count.
    p_of_lists : float
        The same without the tempered gains.
    log_bayes_factor : float
        How much more probable all held-out lists are with novel clusters than without, in nats.
    gains : ndarray
        The same for each labelled bag.
    tempered_gains : ndarray
        How much better the rows of each complete list are explained one by one, both models at their best
        temperatures. Below 0 in sum, a novel cluster would take rows of named kinds.
    taken : dict
        Of the held-out rows that are called by each label without a novel cluster, the share that is novel with one.
    bags : tuple
        The names of those bags.
    novelty : ndarray of shape (n_rows,)
        The probability of each row to be novel, given its bag's list, if anything is.
    rows : ndarray
        The rows, the most novel first.
    """

    p_value: float
    p_of_lists: float
    log_bayes_factor: float
    gains: np.ndarray
    tempered_gains: np.ndarray
    taken: dict[Hashable, float]
    bags: tuple[Hashable, ...]
    novelty: np.ndarray
    rows: np.ndarray


def novelty_test(X: Any, bags: Any, *, n_novel: int = 1, cv: int = 5, random_state: Any = None) -> NoveltyTest:
    """Test whether some rows fit no listed label.

    Coverage clustering is fitted on folds of whole bags, without and with novel clusters, and predicts the lists of
    the bags that it did not see. A novel kind makes lists easier to predict, because its rows need no longer be
    explained by known labels. Held-out rows are also judged one by one: a novel cluster that only takes hard rows of
    named kinds may explain lists better, but not rows. Rows are standardised inside; boundaries are straight, so that a
    class of several separate groups can also raise an alarm: look at the rows.

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
    rows: dict[int, list[HeldOutRows]] = {0: [], n_novel: []}
    splits = BagKFold(cv, shuffle=True, random_state=as_seed(generator)).split(X, groups=bags)
    with ignore_warnings():  # short bags and folds without a label are no news here
        for done, (train, test) in enumerate(splits):
            report("comparing held-out lists", done, cv)
            held_out = bags[test]
            models = {n: clone(plain).set_params(n_novel=n).fit(X[train], bags=bags[train]) for n in rows}
            without, novel = (models[n].bag_scores(X[test], held_out) for n in rows)
            place = {name: b for b, name in enumerate(bags.names)}
            labelled = [place[name] for name, told in zip(held_out.names, held_out.is_labelled) if told]
            gains[labelled] = novel - without
            for n, model in models.items():
                rows[n].append(_rows_of(model, X[test], held_out))
        novelty = clone(plain).set_params(n_novel=n_novel).fit(X, bags=bags).novelty_score(X, bags=bags)
    judged = NovelRows.of(HeldOutRows.join(rows[n_novel]), HeldOutRows.join(rows[0]))
    gains = gains[bags.is_labelled]
    names = tuple(name for name, told in zip(bags.names, bags.is_labelled) if told)
    total = float(gains.sum())
    of_lists = max(float(np.exp(-max(total, 0.0))), _one_sided(gains))
    empty = np.diff(bags.label_matrix.indptr) == 0
    is_proven = bool((empty & bags.is_labelled & ~bags.is_partial).any())
    p_value = of_lists if is_proven or not len(judged.gains) else max(of_lists, _of_rows(judged.gains))
    taken = {name: float(share) for name, share in zip(bags.classes, judged.taken) if np.isfinite(share)}
    order = np.argsort(-novelty, kind="stable")
    return NoveltyTest(p_value, of_lists, total, gains, judged.gains, taken, names, novelty, order)


def _rows_of(model: CoverageClustering, X: Any, bags: Bags) -> HeldOutRows:
    """Return what a model thinks of the rows of complete lists that it did not see."""
    to_labels = model.layout.to_labels()
    P, Q = model.predict_proba(X) @ to_labels, model.predict_proba(X, bags=bags) @ to_labels
    listed, codes = bags.label_matrix.toarray() > 0, np.array(bags.codes)
    return HeldOutRows(P, Q, listed[codes], codes).take((bags.is_labelled & ~bags.is_partial)[codes])


def _of_rows(gains: np.ndarray) -> float:
    """Return how little held-out rows speak for a novel cluster: by their likelihood, or by a t-test over bags.

    A few bags may hold all of the gain, which a t-test does not see; a likelihood that is e^5 times as high does.
    """
    return min(_one_sided(gains), float(np.exp(-max(gains.sum(), 0.0))))


def _one_sided(gains: np.ndarray) -> float:
    """Return the p-value of a t-test that the mean gain is above 0; 1 when nothing was gained anywhere."""
    spread = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
    if spread == 0:
        return 1.0
    return float(student.sf(gains.mean() / spread, len(gains) - 1))
