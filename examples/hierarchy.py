"""Fill the gaps in label sets, and find the tree that nobody wrote down."""

import numpy as np

import sidelight as sl
from sidelight.metrics import micro_f1, robinson_foulds
from sidelight.plot import LabelTreeDisplay

# Rows with labels from a hidden tree; three in ten labels were forgotten.
sample = sl.data.make_label_tree(1500, n_features=20, n_labels=10, missing=0.3, random_state=3)
labels = sl.LabelMatrix(sample.Y_incomplete, names=sample.tree.names)

model = sl.LatentHierarchyClassifier().fit(sample.X[:1000], labels[:1000])
print(model.tree_.to_text())
print(f"edges that differ from the hidden tree: {robinson_foulds(sample.tree, model.tree_)}")
print(f"share of labels forgotten: {model.alpha_:.2f} (truth 0.30)")

# What was seen stays; what was probably forgotten is added.
filled = model.complete(sample.X[:1000], labels[:1000])
before, after = micro_f1(sample.Y[:1000], sample.Y_incomplete[:1000]), micro_f1(sample.Y[:1000], filled)
print(f"micro F1 of the label sets: {before:.2f} before, {after:.2f} after filling")

# New rows: the most probable consistent set, or the threshold that maximises the expected F1.
model.set_params(threshold="f1").fit(sample.X[:1000], labels[:1000])
predicted = model.predict(sample.X[1000:])
print(f"micro F1 on new rows: {micro_f1(sample.Y[1000:], predicted):.2f}")
print(f"consistent with the tree: {model.tree_.is_consistent(predicted)}")

# Why a label hangs where it hangs: nats against its grandparent, and the rows behind it.
weakest = int(np.nanargmin(model.edge_evidence_))
both, seen = model.edge_counts_[weakest].astype(int)
parent = model.tree_.names[model.tree_.parents[weakest]]
print(f"weakest edge: {model.tree_.names[weakest]} under {parent}, seen together on {both} of {seen} rows")

shown = LabelTreeDisplay.from_estimator(model).plot()
shown.figure_.savefig("hierarchy.png", dpi=90)
