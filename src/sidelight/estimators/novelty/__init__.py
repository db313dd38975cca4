"""Labels that nobody has named yet: DMNL and its rivals from the literature."""

from sidelight.estimators.novelty.dmnl import DMNL
from sidelight.estimators.novelty.fast_miml import FastMIML
from sidelight.estimators.novelty.search import DMNLCV
from sidelight.estimators.novelty.wrapper import NovelLabels

__all__ = ["DMNL", "DMNLCV", "FastMIML", "NovelLabels"]
