"""The data and settings of each demo, and how well its clusters match a truth that the method never saw."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from sidelight.active.oracle import Oracle
from sidelight.active.session import ActiveSession
from sidelight.data.bags import Bags
from sidelight.data.channels import stack_channels
from sidelight.data.dataset import Dataset
from sidelight.data.relations import Pairs
from sidelight.data.samples import load_digit_bags
from sidelight.data.synth.rectangles import make_rectangles
from sidelight.data.synth.sources import make_sources
from sidelight.jobs import coclusters as coclusters_job
from sidelight.jobs import hierarchy as hierarchy_job
from sidelight.jobs import relations as relations_job
from sidelight.jobs import sources as sources_job
from sidelight.jobs.ask_result import result_of as ask_result
from sidelight.jobs.ask_result import share_unsure, write_result
from sidelight.jobs.bags import margin as margin_method
from sidelight.jobs.config import RunConfig
from sidelight.jobs.instances import coverage as coverage_method
from sidelight.jobs.instances import dmnl as dmnl_method
from sidelight.jobs.instances import spectral as spectral_method
from sidelight.jobs.run import publish
from sidelight.jobs.samples import draw_visits
from sidelight.metrics import (
    adjusted_rand_index,
    clustering_accuracy,
    micro_f1,
    normalized_mutual_information,
    novel_instance_f1,
    purity,
)
from sidelight.report import Page
from sidelight.results import Result
from sidelight.results.demos import Story
from sidelight.results.jobs import AskResult, Progress
from sidelight.words import Spell


@dataclass(frozen=True, eq=False)
class Demo:
    """What was run, what it found, its story, and the files that go with it."""

    config: RunConfig
    result: Result
    story: Story

    def write(self, folder: Path, *, spell: Spell, page: Page, command: str) -> None:
        """Write the demo into a folder of its own."""
        publish(self.config, self.result, folder, spell=spell, page=page, command=command)


@dataclass(frozen=True, eq=False)
class Conversation:
    """A demo that is a conversation, with a person who is simulated."""

    session: ActiveSession
    result: AskResult
    story: Story
    facts: dict[str, Any]

    def write(self, folder: Path, *, spell: Spell, page: Page, command: str) -> None:
        """Write the demo into a folder of its own."""
        folder.mkdir()
        write_result(folder, self.result, self.session, self.facts, spell=spell, page=page, command=command)


def instances(seed: int) -> Demo:
    """Handwritten digits in bags that say which digits they hold, except for two that nobody ever named."""
    sample = load_digit_bags(novel=(3, 7), random_state=seed)
    data = Dataset(
        sample.X, _pixels(sample.X), bags=sample.bags, path="scikit-learn's digits in bags", show=_images(sample.images)
    )
    config = RunConfig("instances", data.path, options={"n_novel": 2}, seed=seed)
    result = coverage_method.cluster(data, config)
    agreement = normalized_mutual_information(sample.y, result.model.labels_)
    return Demo(config, result, Story("instances", agreement))


def instances_spectral(seed: int) -> Demo:
    """Digits that come in bags, each with the set of digits it holds, in more clusters than digits."""
    sample = load_digit_bags(random_state=seed)
    data = Dataset(
        sample.X, _pixels(sample.X), bags=sample.bags, path="scikit-learn's digits in bags", show=_images(sample.images)
    )
    options = {"method": "spectral", "n_clusters": 20, "alpha": "auto", "scale": "none"}
    config = RunConfig("instances", data.path, options=options, seed=seed)
    result = spectral_method.cluster(data, config)
    return Demo(config, result, Story("spectral", purity(sample.y, result.model.labels_)))


def novel(seed: int) -> Demo:
    """Points of six rectangles, two of which nobody named: the toy of [Z17]."""
    toy = make_rectangles(random_state=seed)
    data = Dataset(toy.X, ("across", "up"), bags=toy.bags, path="sidelight.make_rectangles")
    config = RunConfig("instances", data.path, options={"method": "dmnl", "n_novel": 2}, seed=seed)
    result = dmnl_method.cluster(data, config)
    told_apart = novel_instance_f1(toy.y_test, result.model.predict_labels(toy.X_test), toy.bags.classes)
    return Demo(config, result, Story("novel", told_apart))


def bags(seed: int) -> Demo:
    """Films of handwritten digits with one sharp picture each: find the films that show the same digit."""
    X, films, truth = _films(seed)
    names = tuple(f"pixel {j // 8},{j % 8}" for j in range(64))
    shown = _images(X.reshape(-1, 8, 8))
    data = Dataset(X, names, bags=films, path="films made of scikit-learn's digits", show=shown)
    options = {"method": "margin", "n_clusters": 3, "scale": "none", "n_init": 10}
    config = RunConfig("bags", data.path, options=options, seed=seed)
    result = margin_method.cluster(data, config)
    return Demo(config, result, Story("bags", clustering_accuracy(truth, result.bag_labels)))


def relations(seed: int) -> Demo:
    """Scikit-learn's handwritten digits, and 500 answers about pairs of them, one in twenty wrong."""
    digits = load_digits()
    data = Dataset(digits.data, tuple(digits.feature_names), path="scikit-learn's digits", show=_images(digits.images))
    config = RunConfig("relations", data.path, options={"n_clusters": 10, "scale": "none"}, seed=seed)
    pairs = Pairs.sample(digits.target, 500, noise=0.05, random_state=seed)
    result = relations_job.cluster(data, config, pairs)
    agreement = adjusted_rand_index(digits.target, result.model.labels_)
    return Demo(config, result, Story("relations", agreement))


def ask(seed: int) -> Conversation:
    """Handwritten digits, and a person who answers 80 questions about them, one in twenty wrongly."""
    digits = load_digits()
    data = Dataset(digits.data, tuple(digits.feature_names), path="scikit-learn's digits", show=_images(digits.images))
    session = ActiveSession(digits.data, 10, random_state=seed)
    person = Oracle(digits.target, noise=0.05, random_state=seed)
    at, unsure, agreement = list[int](), list[float](), list[float]()
    for _ in range(8):
        session.run(person, 10)
        at.append(session.n_answers)
        unsure.append(share_unsure(session))
        agreement.append(float(adjusted_rand_index(digits.target, session.labels_)))
    result = ask_result(data, session, Progress(at, unsure, agreement))
    facts = {"job": "ask", "table": data.path, "rows": data.n_rows, "features": data.n_features, "seed": seed}
    return Conversation(session, result, Story("ask", agreement[-1]), facts)


def hierarchy(seed: int) -> Demo:
    """Handwritten digits with kinds of numbers as labels, three in ten of which were forgotten."""
    digits = load_digits()
    names, truth = _kinds_of_numbers(digits.target)
    kept = np.random.default_rng(seed).random(truth.shape) >= 0.3
    seen = (truth & kept).astype(np.int8)
    data = Dataset(
        digits.data, tuple(digits.feature_names), Y=seen, label_names=names, path="scikit-learn's digits, with labels"
    )
    config = RunConfig("hierarchy", data.path, options={"scale": "none"}, seed=seed)
    result = hierarchy_job.learn(data, config)
    return Demo(config, result, Story("hierarchy", micro_f1(truth, result.completed)))


def _kinds_of_numbers(digit: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    """Label every digit with its name and with the kinds of numbers it belongs to."""
    kinds = {"even": digit % 2 == 0, "odd": digit % 2 == 1, "multiple of 4": digit % 4 == 0}
    kinds["odd prime"] = np.isin(digit, (3, 5, 7))
    words = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    kinds |= {word: digit == value for value, word in enumerate(words)}
    return tuple(kinds), np.column_stack(list(kinds.values()))


def sources(seed: int) -> Demo:
    """Tell five people apart by their faces, with the help of what they wear."""
    seen = make_sources(5, n_sequences=20, n_points=2000, random_state=seed)
    X, channels = stack_channels(seen.channels)
    names = tuple(f"{name}_{j}" for name, place in channels.items() for j in range(place.stop - place.start))
    data = Dataset(X, names, path="sidelight.make_sources", sequence=seen.sequences, channels=channels)
    config = RunConfig("sources", data.path, options={"n_clusters": 5, "primary": "face"}, seed=seed)
    result = sources_job.cluster(data, config)
    return Demo(config, result, Story("sources", clustering_accuracy(seen.subjects, result.model.labels_)))


def coclusters(seed: int) -> Demo:
    """Tell groups of visitors by the places where they were seen, and kinds of places by who came."""
    data, groups = draw_visits(seed)
    config = RunConfig("coclusters", data.path, seed=seed)
    result = coclusters_job.cluster(data, config)
    labels = result.model.axis_labels_["visitor"]
    return Demo(config, result, Story("coclusters", clustering_accuracy(groups, labels)))


def _images(images: np.ndarray) -> dict[str, np.ndarray]:
    """Return images as a column to show, an array of pixels in each cell."""
    cells = np.empty(len(images), dtype=object)
    cells[:] = list(images)
    return {"image": cells}


def _pixels(X: Any) -> tuple[str, ...]:
    return tuple(f"pixel {j}" for j in range(X.shape[1]))


def _films(seed: int, n_films: int = 120, size: int = 5) -> tuple[np.ndarray, Bags, np.ndarray]:
    """Draw films: one sharp digit each, at a random place, among means of sixteen random digits; pixels centred."""
    digits = load_digits()
    generator = np.random.default_rng(seed)
    kinds = np.array([0, 4, 5])
    truth = kinds[np.arange(n_films) % 3]
    blurred = digits.data[generator.integers(0, len(digits.data), (n_films * size, 16))].mean(axis=1)
    sharp = np.array([generator.choice(np.flatnonzero(digits.target == digit)) for digit in truth])
    X = blurred
    X[np.arange(n_films) * size + generator.integers(0, size, n_films)] = digits.data[sharp]
    return (X - X.mean(axis=0)) / 16.0, Bags([f"film {b}" for b in np.repeat(np.arange(n_films), size)]), truth
