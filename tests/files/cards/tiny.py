"""A network of four numbers for tests: the means of the colours in cells of four pixels, and of all, and their sum."""

from __future__ import annotations

import numpy as np

from sidelight.files.cards.onnx_bytes import Graph


def tiny_network(*, wide=("n", 3, "height", "width"), scale=1.0):
    """Return an ONNX file: outputs ``maps`` (3, height / 4, width / 4) and ``all`` (3,); inside: ``twice``."""
    graph = Graph()
    weight = graph.constant(np.eye(3)[:, :, None, None] * np.full((1, 1, 4, 4), scale / 16), "w")
    graph.node("Conv", ["x", weight], "maps", strides=[4, 4], kernel_shape=[4, 4])
    graph.node("Add", ["maps", "maps"], "twice")
    graph.node("GlobalAveragePool", ["maps"], "gap")
    graph.node("Flatten", ["gap"], "all", axis=1)
    return graph.to_bytes({"x": wide}, ["maps", "all"])


def as_function(piece):
    """Describe a picture by its mean colour, a sound or a text by its length."""
    return np.asarray(piece, dtype=float).mean(axis=(0, 1)) if getattr(piece, "ndim", 0) == 3 else [len(piece), 1.0]


def gives_nan(piece):
    """Describe anything by no number."""
    return [np.nan, 1.0]
