"""Find kinds that nobody has named: six rectangles of points, two of which are on no list.

Is anything novel at all? Which rows say so? How many kinds are there, and what does each method make of them?
"""

from __future__ import annotations

import sidelight as sl
from sidelight.metrics import novel_instance_f1

toy = sl.data.make_rectangles(100, n_test=2000, random_state=0)
X, bags = toy.X, toy.bags
print(bags)

found = sl.novelty_test(X, bags, random_state=0)
print(f"p-value of 'every row is of a listed kind': {found.p_value:.2g}; rows that say otherwise: {found.rows[:5]}")

methods = {
    "coverage": sl.CoverageClustering(n_novel=2, random_state=0),
    "DMNL": sl.DMNL(n_novel=2, random_state=0),
    "MIMLfast + k-means": sl.peers.NovelLabels(sl.peers.FastMIML(random_state=0), n_novel=2, random_state=0),
}
for name, method in methods.items():
    model = method.fit(X, bags=bags)
    told_apart = novel_instance_f1(toy.y_test, model.predict_labels(toy.X_test), bags.classes)
    print(f"{name:20} novel rows of new points told apart: F_INL {told_apart:.3f}")

dmnl = methods["DMNL"]
for label, rows in dmnl.novel_labels_.items():
    print(f"{label}: typical rows {rows[:4].tolist()}")
print("what a new bag of three points carries:", sorted(map(str, dmnl.predict_bags(toy.X_test[:3], [0, 0, 0])[0])))
