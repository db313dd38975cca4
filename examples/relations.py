"""Cluster handwritten digits that nobody labelled, keep the model, and place new rows."""

from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import sidelight as sl

images, digits = load_digits(return_X_y=True)
old, new, _, new_digits = train_test_split(images, digits, test_size=300, random_state=0)

# Standardized keeps the scaling inside the model, so it can be saved and takes raw rows.
model = sl.Standardized(sl.DiscriminativeClustering(10, random_state=0))
with sl.progress(lambda step: None):  # any callable that takes a Step; return False to cancel
    model.fit(old)

with TemporaryDirectory() as folder:
    path = Path(folder) / "digits.sidelight"
    sl.save(model, path)
    again = sl.load(path)

clusters = again.predict(new)
print(f"{len(set(clusters))} clusters among {len(new)} new rows")
print(f"adjusted Rand index against the true digits: {sl.metrics.adjusted_rand_index(new_digits, clusters):.2f}")
