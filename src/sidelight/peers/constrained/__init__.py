"""Clusterers that other papers built around answers: k-means, mixtures, graphs."""
