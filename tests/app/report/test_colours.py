"""The colours of clusters can be told apart, also by the colour-blind, on light and on dark paper."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from sidelight.app.report.page import asset

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SIGHTS = {
    "usual": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def palettes():
    """The colours and the paper of light and dark, from the style sheet itself."""
    light, dark = re.findall(r"--paper: (#\w+).*?--c0: (#\w+); (.*?)\n", asset("page.css"), re.DOTALL)[:2]
    return {
        name: (paper, [first, *re.findall(r"--c\d: (#\w+)", rest)])
        for name, (paper, first, rest) in (("light", light), ("dark", dark))
    }


def linear(colour):
    values = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    xyz = np.clip(rgb, 0, 1) @ np.array([[0.4124, 0.2126, 0.0193], [0.3576, 0.7152, 0.1192], [0.1805, 0.0722, 0.9505]])
    f = np.cbrt(np.maximum(xyz / [0.9505, 1.0, 1.089], 1e-6))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_colour_stands_out_from_the_paper(mode):
    paper, colours = palettes()[mode]
    assert len(colours) == 8
    for colour in colours:
        a, b = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (colour, paper))
        assert (b + 0.05) / (a + 0.05) >= 3, colour  # what WCAG asks of graphics


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("sight", SIGHTS)
def test_any_two_colours_differ(mode, sight):
    _, colours = palettes()[mode]
    seen = [lab(np.asarray(SIGHTS[sight]) @ linear(colour)) for colour in colours]
    for a, b in combinations(range(8), 2):
        distance = float(np.linalg.norm(seen[a] - seen[b]))
        assert distance > 15, (colours[a], colours[b], distance)  # 2.3 is the least that people notice side by side
