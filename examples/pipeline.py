"""scikit-learn around us: a pipeline, a grid search over whole bags, and probabilities as a data frame."""

from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import sidelight as sl
from sidelight.data import load_digit_bags

drawn = load_digit_bags(n_bags=60, random_state=0)
X, bags, y = drawn.X, drawn.bags, drawn.y

# Directions first, then rows explained by the lists of their bags. The bags travel as y, so nothing is configured.
model = make_pipeline(PCA(random_state=0), sl.CoverageClustering(boundary="straight", random_state=0))
model.set_output(transform="pandas")
grid = {"pca__n_components": [10, 30], "coverageclustering__penalty": [0.5, 1.5]}

# A fold holds out whole bags: rows of one bag never teach and judge at once.
search = GridSearchCV(model, grid, cv=sl.BagKFold(3)).fit(X, bags)
print("Taken:", search.best_params_)

best = search.best_estimator_
print(f"Clusters against the digits: NMI {sl.metrics.normalized_mutual_information(y, best.predict(X)):.2f}.")
print(best.transform(X[:3]).round(2).to_string())
