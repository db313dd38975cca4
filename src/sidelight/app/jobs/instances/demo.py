"""Demos of the instances job: digits in bags, ways of writing them, and rectangles that nobody named."""

from __future__ import annotations

import numpy as np

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.demonstration import Demo, Story, images_to_show, pixel_names
from sidelight.app.jobs.instances.coverage import cluster as cluster_by_lists
from sidelight.app.jobs.instances.novel import cluster as cluster_with_novel
from sidelight.app.jobs.instances.spectral import cluster as cluster_graph
from sidelight.app.jobs.media import Clip
from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.data.samples import load_digit_bags
from sidelight.data.synth.bags import make_rectangles
from sidelight.data.synth.material import RATE, make_recordings
from sidelight.metrics import normalized_mutual_information, novel_instance_f1, purity

_INSTANCES = (
    "Handwritten digits, explained by the lists of their bags",
    "Each bag holds some handwritten digits and says which ones, not which is which; the digits 3 and 7 were "
    "struck off every list. Two novel clusters were allowed.",
    "Against the true digits, used only here, the normalised mutual information is {agreement:.2f} (1 is perfect,"
    " 0 is chance).",
)
_SPECTRAL = (
    "Handwritten digits in labelled bags",
    "Each bag says which digits it holds, not which image is which. Twenty clusters were asked for, so that a "
    "digit may have several: ways of writing it.",
    "Against the true digits, used only here, {share} of the images lie in a cluster of their digit.",
)
_NOVEL = (
    "Rectangles that nobody named",
    "Each bag holds ten points of six rectangles and lists the rectangles inside, but two of the six are on no "
    "list: the toy of the paper behind DMNL. Two novel labels were allowed.",
    "On 10,000 new points, the two that nobody named are found and told apart with a pairwise F1 of "
    "{agreement:.2f} (1 is perfect).",
)

_SOUNDS = (
    "Calls of made-up birds, named by lists",
    "Forty made-up recordings, and for each a list of who calls in it; nobody marked a call. The recordings were cut "
    "where something is heard, and every piece was named. The page plays them.",
    "Against the calls that were put in, used only here, {share} of the sounds bear the right name.",
)
_AROUND = 0.1  # seconds before and after a sound that are heard with it


def digits_in_bags(seed: int) -> Demo:
    """Handwritten digits in bags that say which digits they hold, except for two that nobody ever named."""
    sample = load_digit_bags(novel=(3, 7), random_state=seed)
    data = Dataset(
        sample.X,
        pixel_names(sample.X),
        bags=sample.bags,
        path="scikit-learn's digits in bags",
        show=images_to_show(sample.images),
    )
    config = RunConfig("instances", data.path, options={"n_novel": 2}, seed=seed)
    result = cluster_by_lists(data, config)
    agreement = normalized_mutual_information(sample.y, result.model.labels_)
    return Demo(config, result, Story(*_INSTANCES, agreement))


def ways_of_writing(seed: int) -> Demo:
    """Digits that come in bags, each with the set of digits it holds, in more clusters than digits."""
    sample = load_digit_bags(random_state=seed)
    data = Dataset(
        sample.X,
        pixel_names(sample.X),
        bags=sample.bags,
        path="scikit-learn's digits in bags",
        show=images_to_show(sample.images),
    )
    options = {"method": "spectral", "n_clusters": 20, "alpha": "auto", "scale": "none"}
    config = RunConfig("instances", data.path, options=options, seed=seed)
    result = cluster_graph(data, config)
    return Demo(config, result, Story(*_SPECTRAL, purity(sample.y, result.model.labels_)))


def rectangles(seed: int) -> Demo:
    """Points of six rectangles, two of which nobody named: the toy of [Z17]."""
    toy = make_rectangles(random_state=seed)
    data = Dataset(toy.X, ("across", "up"), bags=toy.bags, path="sidelight.data.make_rectangles")
    config = RunConfig("instances", data.path, options={"method": "dmnl", "n_novel": 2}, seed=seed)
    result = cluster_with_novel(data, config)
    told_apart = novel_instance_f1(toy.y_test, result.model.predict_labels(toy.X_test), toy.bags.classes)
    return Demo(config, result, Story(*_NOVEL, told_apart))


def calls_in_recordings(seed: int) -> Demo:
    """Sounds cut out of made-up recordings, each with a list of who calls in it."""
    from sidelight.files.material.sounds import SoundRecipe, cut_samples

    recipe = SoundRecipe(RATE)
    names, ids, lists, truth, clips, rows = [], [], {}, [], [], []
    for number, recording in enumerate(make_recordings(random_state=seed), start=1):
        name = f"recording{number:02d}"
        lists[name] = recording.species
        for k, sound in enumerate(cut_samples(recording.samples, RATE, recipe), start=1):
            first, last = int(max(0.0, sound.start - _AROUND) * RATE), int((sound.end + _AROUND) * RATE)
            names.append(f"{name}#{k}")
            ids.append(name)
            rows.append(sound.features)
            truth.append(recording.caller(sound.start, sound.end))
            clips.append(Clip(recording.samples[first:last], RATE))
    shown = np.empty(len(clips), dtype=object)
    shown[:] = clips
    data = Dataset(
        np.array(rows), recipe.feature_names, "sidelight.data.make_recordings", bags=Bags(ids, labels=lists),
        row_ids=np.array(names, dtype=object), show={"sound": shown},
    )  # fmt: skip
    config = RunConfig("instances", data.path, seed=seed)
    result = cluster_by_lists(data, config)
    named = result.assignments["label"]
    right = [told == true for told, true in zip(named, truth) if true]
    return Demo(config, result, Story(*_SOUNDS, float(np.mean(right))))
