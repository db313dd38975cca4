"""Answers about pairs and triplets of rows, and what follows from them."""

from sidelight.data.relations.labeller import Labeller
from sidelight.data.relations.pairs import Pairs
from sidelight.data.relations.triplets import Triplets

__all__ = ["Labeller", "Pairs", "Triplets"]
