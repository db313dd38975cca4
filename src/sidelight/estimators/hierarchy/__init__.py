"""The tree behind incomplete label sets: a classifier that learns it, and what it is compared with."""

from sidelight.estimators.hierarchy.classifier import LatentHierarchyClassifier

__all__ = ["LatentHierarchyClassifier"]
