"""Clustering with answers about pairs and triplets of rows."""
