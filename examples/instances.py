"""Find kinds of handwritten digits when only bags of them are labelled.

Each bag says which digits it holds, not which image is which. We ask for twice as many clusters as digits, so that a
digit may have several, and read them by the labels of bags alone.
"""

from __future__ import annotations

import sidelight as sl
from sidelight.metrics import purity, single_cluster_share

digits = sl.data.load_digit_bags(n_bags=200, labels_per_bag=3.0)
X, bags = digits.X, digits.bags
print(bags)

plain = sl.BagSpectralClustering(20, alpha=0, random_state=0).fit(X)
model = sl.BagSpectralClustering(20, alpha="auto", random_state=0).fit(X, bags=bags)
print(f"alpha chosen from bag labels: {model.alpha_search_['chosen']:g}")
print(f"purity without bags {purity(digits.y, plain.labels_):.3f}, with bags {purity(digits.y, model.labels_):.3f}")
print(f"bags with several labels in one cluster: {single_cluster_share(model.labels_, bags):.1%}")

reading = sl.estimators.ClusterReading.from_estimator(model)
table = reading.to_columns()
for name, rows, made_of in zip(table["name"], table["rows"], table["made of"]):
    print(f"{name:8} {rows:4} rows: {made_of}")

# A new image joins the cluster that its nearest known images vote for; labels of its bag help when there are any.
new = X[:5] + 0.5
print("clusters of five new images:", [reading.names[k] for k in model.predict(new)])
