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
from sidelight.files.text.folder import without_mail_header

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


def bodies(n_groups: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Return the posts of some of every second group (of all, where more are wanted) without their headers."""
    names = sorted({name for name, _ in _posts()})
    pool = names[1::2] if n_groups <= len(names) // 2 else names
    taken = sorted(np.random.default_rng(seed).choice(pool, n_groups, replace=False).tolist())
    posts = [(name, without_mail_header(text)) for name, text in _posts() if name in taken]
    return [text for _, text in posts], np.array([taken.index(name) for name, _ in posts])


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


def generated(kind: str, seed: int) -> tuple[Views, np.ndarray]:
    """Return channels drawn at random, of one of ``GENERATED``: what users have and the public sets do not show."""
    rng = np.random.default_rng([list(GENERATED).index(kind), seed])
    k, n, is_even, scales = GENERATED[kind]
    y = _kinds(rng, k, n, is_even)
    if kind == "each channel tells three of nine":
        return {"a": _blobs(rng, y // 3, 6, 0.8), "b": _blobs(rng, y % 3, 6, 0.8)}, y
    views: Views = {name: _blobs(rng, y, 8, scale) for name, scale in zip("abcde", scales)}
    if kind == "a channel of noise":
        views["noise"] = rng.normal(size=(n, 20))
    elif kind == "noise beside one channel":
        views["noise"] = rng.normal(size=(n, 8))
    elif kind == "a channel with clusters of its own":
        views["own"] = _blobs(rng, rng.integers(4, size=n), 8, 0.4)
    elif kind == "two near copies of a poor channel":
        views["copy"] = views["b"] + 0.3 * rng.normal(size=views["b"].shape)
    elif kind == "words and poor words":
        views = {
            "a": _texts(rng, y, 600, 60, 0.7),
            "b": _texts(rng, y, 100, 5, 0.9),
            "c": _texts(rng, y, 2000, 300, 0.97),
        }
    elif kind == "words beside numbers":
        views = {"words": _texts(rng, y, 500, 40, 0.7), "numbers": _blobs(rng, y, 6, 1.2)}
    elif kind == "words beside noise":
        views = {"words": _texts(rng, y, 500, 60, 0.7), "noise": rng.normal(size=(n, 4))}
    return views, y


# clusters, rows, whether clusters are equally frequent (else each .7 times the one before), noise of every channel
GENERATED: dict[str, tuple[int, int, bool, tuple[float, ...]]] = {
    "noise that differs": (6, 600, True, (0.8, 1.5, 2.5)),
    "a channel of noise": (5, 500, True, (1.1, 1.1)),
    "noise beside one channel": (5, 500, True, (0.9,)),
    "a channel with clusters of its own": (5, 500, True, (0.9, 0.9)),
    "two near copies of a poor channel": (5, 500, True, (0.9, 1.8)),
    "one clear channel and four poor ones": (6, 500, True, (0.8, 2.0, 2.0, 2.0, 2.0)),
    "each channel tells three of nine": (9, 600, True, ()),
    "30 clusters": (30, 600, True, (0.9, 0.9, 1.2)),
    "64 rows": (8, 64, True, (0.9, 0.9, 1.2)),
    "uneven clusters": (8, 600, False, (0.9, 1.2)),
    "words and poor words": (5, 500, True, ()),
    "words beside numbers": (7, 500, False, ()),
    "words beside noise": (5, 500, True, ()),
}


def together(k: int, n_own: int, noise: float, seed: int) -> tuple[Views, np.ndarray]:
    """Return two channels with groups of their own, ``n_own`` for each of k clusters, which occur together."""
    rng = np.random.default_rng([seed, k, n_own])
    y, views = rng.integers(k, size=800), {}
    for name in "ab":
        own = rng.permutation(k * n_own)[y * n_own + rng.integers(n_own, size=800)]
        views[name] = 2 * rng.normal(size=(k * n_own, 4))[own] + noise * rng.normal(size=(800, 4))
    return views, y


def _kinds(rng: np.random.Generator, k: int, n: int, is_even: bool) -> np.ndarray:
    """Draw the cluster of each row; every one has three rows at least."""
    share = np.ones(k) if is_even else 0.7 ** np.arange(k)
    return rng.permutation(
        np.concatenate([np.repeat(np.arange(k), 3), rng.choice(k, n - 3 * k, p=share / share.sum())])
    )


def _blobs(rng: np.random.Generator, y: np.ndarray, width: int, scale: float) -> np.ndarray:
    return np.asarray(rng.normal(size=(y.max() + 1, width))[y] + scale * rng.normal(size=(len(y), width)))


def _texts(rng: np.random.Generator, y: np.ndarray, n_words: int, length: int, common: float) -> Any:
    """Count words of texts: a share of them is drawn from what all texts have in common, the others from a topic."""
    usual, topics = rng.dirichlet(np.full(n_words, 0.1)), rng.dirichlet(np.full(n_words, 0.05), size=y.max() + 1)
    mixed = (1 - common) * topics[y] + common * usual
    return sp.csr_array(rng.multinomial(3 + rng.poisson(length, size=len(y)), mixed).astype(float))
