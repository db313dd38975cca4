"""Name rows from lists that say what a bag holds, find kinds that no list names, and see which list looks wrong."""

import numpy as np
from sklearn.preprocessing import StandardScaler

import sidelight as sl

# 200 bags of handwritten digits; each says which digits it holds, not which is which. Nobody ever named 3 and 7.
sample = sl.data.load_digit_bags(novel=(3, 7), random_state=0)
X = StandardScaler().fit_transform(sample.X)
train, test = next(iter(sl.BagKFold(5).split(X, groups=sample.bags)))  # whole bags

model = sl.CoverageClustering(n_novel=2, random_state=0)
model.fit(X[train], bags=sample.bags[train])

names = model.predict_labels(X[test])  # by their pixels alone
known = ~np.isin(sample.y[test], sample.novel)
right = np.array([str(name) == str(digit) for name, digit in zip(names, sample.y[test])])
print(f"{right[known].mean():.0%} of new rows with a known digit got its name")
print(f"{np.mean(model.novelty_score(X[test])[~known] > 0.5):.0%} of the others were said to be novel")

held_out = sample.bags[test]
carried = model.predict_bags(X[test], held_out)[0]  # one set of labels for each bag
bag = held_out.names[0]
print(f"bag {bag!r} lists {sorted(held_out.labels[bag])}; its rows look like {sorted(map(str, carried))}")

surprise = model.bag_scores(X[test], held_out)
print(f"the most surprising list: bag {held_out.names[int(np.argmin(surprise))]!r}")
