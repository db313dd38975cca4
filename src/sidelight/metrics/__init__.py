"""JUDGES: scores of an answer against the truth or against itself."""
