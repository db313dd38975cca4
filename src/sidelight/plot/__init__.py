"""PICTURES: Display objects, the only room that imports matplotlib."""

from sidelight.plot.bags import BagMarginDisplay, BagWitnessDisplay, BalanceSizesDisplay, StabilityDisplay
from sidelight.plot.clusters import ClusterScatterDisplay, TypicalImagesDisplay
from sidelight.plot.coverage import ClusterContentsDisplay, ClusterLabelDisplay, CountChoiceDisplay, MovedRowsDisplay
from sidelight.plot.hierarchy import LabelTreeDisplay, LossRateDisplay
from sidelight.plot.instances import AlphaCurveDisplay, ClusterClassDisplay, EmbeddingDisplay
from sidelight.plot.novelty import (
    DecisionRegionsDisplay,
    NovelCountDisplay,
    NovelGroupsDisplay,
    NoveltyCurveDisplay,
)
from sidelight.plot.relations import (
    AnswerInformationDisplay,
    QuestionsDisplay,
    ScoreCurveDisplay,
    UncertaintyMapDisplay,
)
from sidelight.plot.sources import (
    ClusterWeightsDisplay,
    CoclusterDisplay,
    PreservedInformationDisplay,
    StartErrorsDisplay,
)

__all__ = [
    "AlphaCurveDisplay",
    "AnswerInformationDisplay",
    "BagMarginDisplay",
    "BagWitnessDisplay",
    "BalanceSizesDisplay",
    "ClusterClassDisplay",
    "ClusterContentsDisplay",
    "ClusterLabelDisplay",
    "ClusterScatterDisplay",
    "ClusterWeightsDisplay",
    "CoclusterDisplay",
    "CountChoiceDisplay",
    "DecisionRegionsDisplay",
    "EmbeddingDisplay",
    "LabelTreeDisplay",
    "LossRateDisplay",
    "MovedRowsDisplay",
    "NovelCountDisplay",
    "NovelGroupsDisplay",
    "NoveltyCurveDisplay",
    "PreservedInformationDisplay",
    "QuestionsDisplay",
    "ScoreCurveDisplay",
    "StabilityDisplay",
    "StartErrorsDisplay",
    "TypicalImagesDisplay",
    "UncertaintyMapDisplay",
]
