"""Cluster handwritten digits by answers about pairs and triplets of them, some of which are wrong."""

import numpy as np
from sklearn.datasets import load_digits

import sidelight as sl

images, digits = load_digits(return_X_y=True)
images, digits = images[:600], digits[:600]

# A simulated person: calls one alike pair in ten different, and takes about three seconds a pair.
person = sl.data.Labeller(pair_confusion=[[0.98, 0.02], [0.10, 0.90]], pair_seconds=3.0)
pairs = sl.Pairs.sample(digits, 300, labeller=person, random_state=0)
triplets = sl.Triplets.sample(digits, 150, noise=0.05, random_state=1)
print(f"{pairs.n_answers} pairs in {np.sum(pairs.times) / 60:.0f} minutes, and {triplets.n_answers} triplets")

alone = sl.DiscriminativeClustering(10, random_state=0).fit(images)
model = sl.DiscriminativeClustering(10, random_state=0).fit(images, pairs=pairs, triplets=triplets)
ari = sl.metrics.adjusted_rand_index
print(f"adjusted Rand index without answers {ari(digits, alone.labels_):.2f}, with {ari(digits, model.labels_):.2f}")
print(f"about {model.eps_:.0%} of the answers seem to be wrong")

# The answers that the clusters break are the ones to look at again.
for number in model.violated_["pairs"][:3]:
    a, b = pairs.rows[number]
    print(f"rows {a} and {b} were called {pairs.answers[number].answer}; they are a {digits[a]} and a {digits[b]}")

plan = sl.metrics.plan_questions(np.bincount(digits), pair_seconds=3, triplet_seconds=6)
print(f"bits a minute: pairs {plan.pair:.1f}, triplets {plan.triplet:.1f}; ask about {plan.ask}")
