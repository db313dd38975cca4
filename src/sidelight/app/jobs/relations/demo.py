"""The demo of the relations job: digits, and answers about pairs of them."""

from __future__ import annotations

from sklearn.datasets import load_digits

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.demonstration import Demo, Story, images_to_show
from sidelight.app.jobs.relations.work import cluster
from sidelight.data.dataset import Dataset
from sidelight.data.relations import Pairs
from sidelight.metrics import adjusted_rand_index

_RELATIONS = (
    "Handwritten digits, clustered",
    "Nobody told the method what a digit is: it saw 64 numbers a row, and 500 answers about whether two images "
    "show the same digit, one in twenty of them wrong.",
    "Against the digits' true labels, used only here, the adjusted Rand index is {agreement:.2f} (1 is perfect, 0"
    " is chance).",
)


def digits(seed: int) -> Demo:
    """Scikit-learn's handwritten digits, and 500 answers about pairs of them, one in twenty wrong."""
    images = load_digits()
    data = Dataset(
        images.data, tuple(images.feature_names), path="scikit-learn's digits", show=images_to_show(images.images)
    )
    config = RunConfig("relations", data.path, options={"n_clusters": 10, "scale": "none"}, seed=seed)
    pairs = Pairs.sample(images.target, 500, noise=0.05, random_state=seed)
    result = cluster(data, config, pairs)
    agreement = adjusted_rand_index(images.target, result.model.labels_)
    return Demo(config, result, Story(*_RELATIONS, agreement))
