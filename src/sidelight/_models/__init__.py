"""BELIEF: models map parameters and rows to the posterior matrix P, and pull gradients back."""
