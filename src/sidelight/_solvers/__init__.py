"""ROADS: iterations that travel from a start to an optimum, and say how they went."""
