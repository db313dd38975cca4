"""Words of more rows than memory: code books and clusters from a sample of whole bags, every bag placed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.app.jobs.bags.result import WordsResult
from sidelight.app.jobs.bags.work import SURE, by_words
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.in_parts import InParts, work_on_sample
from sidelight.app.jobs.placing import Placed
from sidelight.data.dataset import Dataset
from sidelight.estimators.bags.words import MOST_ROWS


@dataclass(frozen=True, kw_only=True, eq=False)
class PartedWordsResult(InParts, WordsResult):
    """Clusters of bags, of which only a sample was ever in memory."""


def words(config: RunConfig) -> PartedWordsResult:
    """Learn from a sample of whole bags, and place all bags."""
    return work_on_sample(
        config, by_words, PartedWordsResult, n_rows=MOST_ROWS, needs=("bag",), figures=_figures, count=count_bags
    )


def count_bags(data: Dataset, placed: Placed) -> Counter[Any]:
    """Count bags by cluster, and those that are sure."""
    total: Counter[Any] = Counter({("bags", name): n for name, n in Counter(placed.bags["cluster"]).items()})
    total["sure"] = int((np.asarray(placed.bags["probability"]) >= SURE).sum())
    return total


def _figures(result: WordsResult, total: Counter[Any]) -> dict[str, Any]:
    sizes = [total["bags", k] for k in range(len(result.sizes))]
    return {"n_bags": sum(sizes), "sizes": sizes, "share_sure": total["sure"] / sum(sizes)}
