"""Coverage clustering and the two models of the literature that it contains."""

from sidelight.estimators.coverage.clustering import CoverageClustering
from sidelight.estimators.coverage.ored import NovelClassLogisticRegression, OredLogisticRegression

__all__ = ["CoverageClustering", "NovelClassLogisticRegression", "OredLogisticRegression"]
