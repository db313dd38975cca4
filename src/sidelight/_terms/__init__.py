"""WISHES: a term maps (P, log P) to a value and its gradient; an objective is a weighted sum of them."""
