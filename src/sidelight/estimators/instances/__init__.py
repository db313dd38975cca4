"""Clustering the rows of labelled bags: spectral, and one on the posterior matrix."""
