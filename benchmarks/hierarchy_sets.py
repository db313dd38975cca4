"""Multi-label sets whose tree is known: newsgroups and Church-FUN, and two that have none: yeast and emotions."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

import sidelight as sl
from datasets import folder
from runner import WORK

INNER = ("comp", "comp.sys", "rec", "rec.sport", "sci", "talk", "talk.politics")


@dataclass(frozen=True)
class LabelSet:
    """Features, complete labels and the true tree (None where there is none)."""

    X: np.ndarray
    Y: np.ndarray
    names: tuple[str, ...]
    tree: sl.LabelTree | None


def drop(Y: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Drop each label that is on with probability ``noise``, as [P17] 5.5.1 does."""
    return (Y * (rng.random(Y.shape) >= noise)).astype(np.int8)


@cache
def newsgroups() -> LabelSet:
    """2000 posts, 27 labels: tf-idf of body and subject (the Newsgroups header leaks the label), 100 components."""
    posts, groups = _posts()
    names = (*INNER, *sorted(set(groups)))
    Y = np.array([[g == n or g.startswith(n + ".") for n in names] for g in groups]).astype(np.int8)
    above = [max((i for i in INNER if n.startswith(i + ".")), key=len, default=None) for n in names]
    tree = sl.LabelTree([-1 if a is None else names.index(a) for a in above], names)
    return LabelSet(_components(posts), Y, names, tree)


@cache
def church(subtree: str | None = None, rows: int = 1) -> LabelSet:
    """Church-FUN: gene functions; one subtree with the rows it owns, or all labels with at least ``rows`` rows."""
    parts = [sl.read(folder() / "church_fun" / f"church_FUN.{part}.arff") for part in ("train", "valid", "test")]
    tree = parts[0].tree
    X, Y = np.vstack([p.X for p in parts]), (np.vstack([p.Y for p in parts]) > 0).astype(np.int8)
    if subtree is not None:
        inside = np.array([name.startswith(subtree + "/") for name in tree.names])
        owned = Y[:, inside].any(axis=1)
        X, Y = X[owned], Y[owned]
        keep = np.flatnonzero(inside & (Y.sum(axis=0) >= rows))
    else:
        keep = np.flatnonzero(Y.sum(axis=0) >= rows)
    gaps = np.isnan(X)
    X = np.where(gaps, np.nanmean(X, axis=0), X)
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return LabelSet(X, np.ascontiguousarray(Y[:, keep]), tuple(tree.names[i] for i in keep), _cut(tree, keep))


@cache
def church_small() -> LabelSet:
    """Church-FUN as near to [P17] table 5.2 (302 x 20 x 16) as the file comes: 300 rows, 20 attributes, 16 labels.

    Subtree 32 of the training and validation parts, labels with at least 4 rows, attributes without missing values.
    """
    parts = [sl.read(folder() / "church_fun" / f"church_FUN.{part}.arff") for part in ("train", "valid")]
    tree = parts[0].tree
    X, Y = np.vstack([p.X for p in parts]), (np.vstack([p.Y for p in parts]) > 0).astype(np.int8)
    inside = np.array([name == "32" or name.startswith("32/") for name in tree.names])
    keep = np.flatnonzero(inside & (Y.sum(axis=0) >= 4))
    owned = Y[:, keep].any(axis=1)
    X, Y = X[owned][:, ~np.isnan(X).any(axis=0)], np.ascontiguousarray(Y[owned][:, keep])
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return LabelSet(X, Y, tuple(tree.names[i] for i in keep), _cut(tree, keep))


@cache
def without_tree(name: str) -> LabelSet:
    """Yeast or emotions, features standardised."""
    files = sorted((folder() / "multilabel").glob(f"{name}*.arff"))
    parts = [sl.read(path) for path in files]
    X, Y = np.vstack([p.X for p in parts]), (np.vstack([p.Y for p in parts]) > 0).astype(np.int8)
    return LabelSet((X - X.mean(axis=0)) / X.std(axis=0), Y, tuple(parts[0].label_names), None)


def _cut(tree: sl.LabelTree, keep: np.ndarray) -> sl.LabelTree:
    """The tree of some labels: the parent of each is its lowest kept ancestor."""
    place = {int(label): i for i, label in enumerate(keep)}
    parents = [next((place[int(a)] for a in tree.ancestors(int(c)) if int(a) in place), -1) for c in keep]
    return sl.LabelTree(parents, [tree.names[i] for i in keep])


def _posts() -> tuple[list[str], list[str]]:
    posts, groups = [], []
    with tarfile.open(folder() / "newsgroups" / "mini_newsgroups.tar.gz") as archive:
        for member in archive:
            if member.isfile():
                text = archive.extractfile(member).read().decode("latin-1")
                head, _, body = text.partition("\n\n")
                subject = re.search(r"^Subject: (.*)$", head, re.M)
                posts.append((subject.group(1) if subject else "") + "\n" + body)
                groups.append(member.name.split("/")[-2])
    return posts, groups


def _components(posts: list[str]) -> np.ndarray:
    """Kept between runs, because the decomposition takes most of a minute."""
    path = WORK / "newsgroups_components.npy"
    if path.exists():
        return np.load(path)
    from sklearn.decomposition import PCA
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True, min_df=3, stop_words="english", max_features=20_000)
    X = PCA(100, random_state=0).fit_transform(words.fit_transform(posts).toarray())
    WORK.mkdir(parents=True, exist_ok=True)
    np.save(path, X)
    return X


SETS: dict[str, Callable[[], LabelSet]] = {
    "newsgroups": newsgroups,
    "Church-FUN, subtree 32": church_small,
    "Church-FUN, subtree 10": lambda: church("10", 20),
    "Church-FUN, 114 labels": lambda: church(rows=60),
}
