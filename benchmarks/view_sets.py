"""Sets of rows of several kinds and in several channels: public data, and generated people, drawn by seed."""

from __future__ import annotations

import re
import tarfile
from functools import cache
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import CountVectorizer

from datasets import folder
from sidelight.data.synth.sources import make_sources

Views = dict[str, Any]


def classic3() -> tuple[Any, np.ndarray]:
    """Return 3,891 abstracts as counts of words, and their collections."""
    found = scipy.io.loadmat(folder() / "classic3" / "classic3.mat")
    return sp.csr_array(found["A"]).astype(float), found["labels"].ravel()


@cache
def _posts() -> tuple[tuple[str, str], ...]:
    posts = []
    with tarfile.open(folder() / "newsgroups" / "mini_newsgroups.tar.gz") as archive:
        for member in archive:
            handle = archive.extractfile(member) if member.isfile() else None
            if handle is not None:
                posts.append((member.name.split("/")[-2], handle.read().decode("latin1")))
    return tuple(posts)


def newsgroups(n_groups: int, seed: int) -> tuple[Views, np.ndarray]:
    """Return the posts of some groups as three channels: words of the head, words of the body, threes of letters."""
    names = sorted({name for name, _ in _posts()})
    taken = sorted(np.random.default_rng(seed).choice(names, n_groups, replace=False).tolist())
    posts = [(name, text) for name, text in _posts() if name in taken]
    heads = [" ".join(re.findall(r"^(?:Subject|Organization):(.*)$", text, re.MULTILINE)) for _, text in posts]
    bodies = [text.split("\n\n", 1)[-1] for _, text in posts]
    views = {
        "head": _counts(heads, stop_words="english"),
        "body": _counts(bodies, stop_words="english"),
        "letters": _counts(bodies, analyzer="char_wb", ngram_range=(3, 3), max_features=3000),
    }
    return views, np.array([taken.index(name) for name, _ in posts])


def _counts(texts: list[str], **how: Any) -> Any:
    return sp.csr_array(CountVectorizer(min_df=3, max_df=0.5, **how).fit_transform(texts).astype(float))


@cache
def mfeat() -> tuple[Views, np.ndarray]:
    """Return 2,000 digits through six sets of features."""
    views, y = {}, np.empty(0)
    for path in sorted((folder() / "mfeat").glob("*.csv")):
        table = np.loadtxt(path, delimiter=",", skiprows=1)
        views[path.stem.removeprefix("mfeat-")], y = table[:, :-1], table[:, -1]
    return views, y


def few_digits(seed: int) -> tuple[Views, np.ndarray]:
    """Return ten digits of each class through four sets of features."""
    digits, rng = load_digits(), np.random.default_rng(seed)
    rows = np.concatenate([rng.choice(np.flatnonzero(digits.target == k), 10, replace=False) for k in range(10)])
    images = digits.images[rows]
    views = {
        "pixels": images.reshape(100, -1),
        "margins": np.hstack([images.sum(axis=1), images.sum(axis=2)]),
        "edges": np.abs(np.diff(images, axis=1)).reshape(100, -1),
        "fourier": np.abs(np.fft.rfft2(images)).reshape(100, -1),
    }
    return views, digits.target[rows]


def people(k: int, seed: int) -> tuple[Views, np.ndarray]:
    """Return people of [B04] seen through four channels, without their sequences."""
    seen = make_sources(k, n_sequences=5 * k, n_points=1000, random_state=seed)
    return {name: np.asarray(X).reshape(1000, -1) for name, X in seen.channels.items()}, seen.subjects
