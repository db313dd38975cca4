"""Rows with candidates: each digit comes with three names, one of which is right."""

import numpy as np
from sklearn.datasets import load_digits

import sidelight as sl

X, y = load_digits(return_X_y=True)
X, y = X[:900], y[:900]

# Beside the true name every row gets two others, drawn at random: nobody says which of the three it is.
generator = np.random.default_rng(0)
candidates = [
    {int(digit), *generator.choice([d for d in range(10) if d != digit], size=2, replace=False).tolist()} for digit in y
]

# "One of these is it", row by row. A list of a bag would say "all of these are there".
model = sl.Standardized(sl.CoverageClustering(random_state=0)).fit(X, candidates=candidates)

alone = model.predict_labels(X)
within = model.predict_labels(X, candidates=candidates)
print(f"Boundaries are {model.boundary_}.")
print(f"Right by features alone: {np.mean(alone == y):.1%}; among the candidates: {np.mean(within == y):.1%}.")
