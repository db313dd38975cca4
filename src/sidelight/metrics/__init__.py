"""JUDGES: scores of an answer against the truth or against itself.

Labels may be lists or arrays of anything hashable; the truth comes first. Missing labels (NaN, None), lengths that
differ and empty input are refused with a message, never scored.
"""

from sidelight.metrics.agreement import (
    PairScores,
    adjusted_rand_index,
    clustering_accuracy,
    normalized_mutual_information,
    pair_precision_recall_f,
    purity,
)
from sidelight.metrics.calibration import expected_calibration_error
from sidelight.metrics.discovery import (
    novel_bag_f1,
    novel_instance_f1,
    novel_instance_scores,
    single_cluster_share,
)
from sidelight.metrics.information import ErrorAccounts, error_accounts, information_loss
from sidelight.metrics.multilabel import average_precision, hamming_loss, macro_f1, micro_f1, ranking_loss
from sidelight.metrics.questions import AnswerInformation, QuestionPlan, answer_information, plan_questions
from sidelight.metrics.scorers import get_scorer, get_scorer_names
from sidelight.metrics.trees import robinson_foulds

__all__ = [
    "normalized_mutual_information",
    "purity",
    "answer_information",
    "AnswerInformation",
    "plan_questions",
    "QuestionPlan",
    "pair_precision_recall_f",
    "PairScores",
    "adjusted_rand_index",
    "clustering_accuracy",
    "novel_instance_f1",
    "novel_instance_scores",
    "novel_bag_f1",
    "single_cluster_share",
    "micro_f1",
    "macro_f1",
    "hamming_loss",
    "ranking_loss",
    "average_precision",
    "expected_calibration_error",
    "robinson_foulds",
    "information_loss",
    "error_accounts",
    "ErrorAccounts",
    "get_scorer",
    "get_scorer_names",
]
