"""Group bags when only some unknown row of each matters, see which row decided, and let bags into several groups."""

import sidelight as sl

# 120 bags of eight rows. Each bag has one telling row for each of its groups (one or two of four); the rest is clutter.
X, bags, groups = sl.data.make_overlapping_bags(n_bags=120, n_clusters=4, noise=0.3, random_state=0)

model = sl.MaxMarginBagClustering(4, random_state=0).fit(X, bags=bags)
print(
    model.status_,
    "after",
    model.n_iter_,
    "steps; J fell from",
    model.trace_[0].round(3),
    "to",
    round(model.objective_, 3),
)
for bag in range(3):
    row, cluster, margin = model.witnesses_[bag], model.bag_labels_[bag], model.bag_margins_[bag]
    print(f"bag {bags.names[bag]}: cluster {cluster}, decided by row {row} with a margin of {margin:.2f}")

# A bag may have rows for several clusters.
belongs = model.memberships(X, bags=bags)
found, true = (belongs.sum(axis=1) > 1).mean(), (groups.sum(axis=1) > 1).mean()
print(f"{found:.0%} of the bags are in two clusters; in truth {true:.0%}")

# The same by distances between whole bags: clutter drowns the telling row.
medoids = sl.estimators.BagKMedoids(4, distance="average", random_state=0).fit(X, bags=bags)
first_group = groups.argmax(axis=1)
for name, found in (("margin", model), ("medoids", medoids)):
    print(name, "accuracy:", round(sl.metrics.clustering_accuracy(first_group, found.bag_labels_), 2))

# New bags, and the choice of C and balance when there is no truth to look at.
X_new, new_bags, _ = sl.data.make_overlapping_bags(n_bags=10, n_clusters=4, noise=0.3, random_state=1)
print("new bags:", model.predict_bag_clusters(X_new, new_bags).tolist())
search = sl.estimators.MaxMarginBagClusteringCV(
    4, Cs=[1.0, 4.0], balances=[0.0, 1.0], n_resamples=3, n_init=2, random_state=0
)
print("chosen without labels:", search.fit(X, bags=bags).best_params_)
