"""The tree behind incomplete label sets, and a classifier that obeys it."""
