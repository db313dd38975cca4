"""Labels that nobody has named yet: DMNL and its rivals from the literature."""

from sidelight.estimators.novelty.dmnl import DMNL

__all__ = ["DMNL"]
