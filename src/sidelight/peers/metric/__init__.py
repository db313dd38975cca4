"""Metrics learnt from answers, each a transformer, and k-means over any of them."""
