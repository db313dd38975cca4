"""Whether rows of raw material may be of kinds that nobody listed: held-out lists are asked, and the page suggests.

Where lists are complete a novel cluster costs a few points, and where a third of the sounds are knocks and wind it
gains many: so neither is the default, and a test says which it is.
"""

from __future__ import annotations

from sidelight.app.jobs.reading import standard
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidInput
from sidelight.estimators.coverage.novelty_test import novelty_test

_FEWEST = 10  # labelled bags that a test can stand on
_MOST_CELLS = 3_000_000  # rows x features x labels / 10: some ten seconds


def p_of_unlisted(data: Dataset, bags: Bags, *, seed: int) -> float | None:
    """Return the p-value of "every row is of a listed kind"; None for tables, few bags, and what would take long.

    Parameters
    ----------
    data : Dataset
        The rows; only those cut from a folder are tested.
    bags : Bags
        Their lists.
    seed : int
        Of the folds and starts.
    """
    n_labelled = int(bags.is_labelled.sum())
    cost = data.n_rows * min(data.n_features, 200) * bags.n_classes / 10
    if not data.material or n_labelled < _FEWEST or bags.n_classes < 2 or cost > _MOST_CELLS:
        return None
    try:
        return novelty_test(standard(data.X), bags, random_state=seed).p_value
    except InvalidInput:  # folds that cannot be made: lists that all say the same
        return None
