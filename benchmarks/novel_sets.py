"""The sets of [Z17] with their splits and figures, and bags of MNIST digits drawn as the paper describes them."""

from __future__ import annotations

import gzip
from functools import cache

import numpy as np

import sidelight as sl
from datasets import folder, load, title
from sidelight.data.samples import draw_label_counts

Sample = tuple[np.ndarray, sl.Bags, np.ndarray]

# Table 2: F_INL of ORLR, MIMLfast, MIML-NC and DMNL, by how many of the first labels are novel
TABLE_2 = {
    "msrcv2": {4: (0.13, 0.11, 0.19, 0.22), 8: (0.12, 0.10, 0.16, 0.20), 16: (0.12, 0.08, 0.14, 0.20)},
    "carroll": {4: (0.15, 0.14, 0.24, 0.31), 8: (0.15, 0.14, 0.23, 0.28), 16: (0.15, 0.14, 0.21, 0.26)},
    "mnist": {2: (0.13, 0.11, 0.15, 0.19), 4: (0.19, 0.17, 0.24, 0.26), 6: (0.16, 0.15, 0.19, 0.25)},
}
TABLE_3 = {"msrcv2": (206, 17), "carroll": (166, 10), "mnist": (176, 17)}  # seconds of MIML-NC and of DMNL
N_BAGS, N_ROWS, N_LABELS = 200, 5520, 618  # of the MNIST bags: 27.6 rows and 3.09 labels a bag


def sample(name: str) -> Sample:
    """Return rows, labelled bags and the true class of each row."""
    return mnist_bags() if name == "mnist" else load(name)


def called(name: str) -> str:
    """Return what a page calls the set."""
    return "MNIST bags" if name == "mnist" else title(name)


@cache
def mnist_bags(seed: int = 0) -> Sample:
    """Draw bags of MNIST's test digits, each digit of a bag at least once.

    The paper gives the averages and nothing else: the sizes of bags, the shares of their digits and the features
    (means of 4 x 4 pixels, 49 a digit) are ours.
    """
    images, digits = _idx("t10k-images-idx3-ubyte.gz", 16), _idx("t10k-labels-idx1-ubyte.gz", 8)
    generator = np.random.default_rng(seed)
    n_labels = draw_label_counts(N_BAGS, N_LABELS / N_BAGS, 10, generator)
    sizes = n_labels + generator.multinomial(N_ROWS - N_LABELS, np.full(N_BAGS, 1.0 / N_BAGS))
    stock = {digit: generator.permutation(np.flatnonzero(digits == digit)).tolist() for digit in range(10)}
    rows: list[int] = []
    for n, size in zip(n_labels, sizes):
        present = generator.choice(10, size=n, replace=False)
        rows += [stock[digit].pop() for digit in np.concatenate([present, generator.choice(present, size - n)])]
    X = images.reshape(-1, 7, 4, 7, 4)[rows].mean(axis=(2, 4)).reshape(len(rows), 49)
    y = digits[rows].astype(np.intp)
    ids = np.repeat(np.arange(N_BAGS), sizes)
    labels = {b: {str(digit) for digit in y[ids == b]} for b in range(N_BAGS)}
    bags = sl.Bags(ids, labels=labels, classes=[str(digit) for digit in range(10)])
    return X, bags, y


def _idx(file: str, header: int) -> np.ndarray:
    """Read the bytes of an IDX file after its header."""
    return np.frombuffer(gzip.decompress((folder() / "mnist" / file).read_bytes()), dtype=np.uint8, offset=header)
