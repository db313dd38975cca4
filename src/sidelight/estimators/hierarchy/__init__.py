"""The tree behind incomplete label sets: a classifier that learns it, and what it is compared with."""

from sidelight.estimators.hierarchy.binary_relevance import BinaryRelevance
from sidelight.estimators.hierarchy.chow_liu import ChowLiuTree
from sidelight.estimators.hierarchy.classifier import LatentHierarchyClassifier
from sidelight.estimators.hierarchy.fasttag import FastTag

__all__ = ["BinaryRelevance", "ChowLiuTree", "FastTag", "LatentHierarchyClassifier"]
