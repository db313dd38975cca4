"""Networks that were changed: a folder described by a stranger's .onnx or .tflite, and weights in a .pth.

A network is looked at in a process of its own before it describes anything, as `sidelight from` does.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attack.outcome import judged

COUNT = 300


def attack(number: int, folder: Path) -> list[str]:
    """Change some bytes of a file, or cut it, and describe something by it."""
    rng = np.random.default_rng([17, number])
    ending, content = list(_contents().items())[number % len(_contents())]
    changed = bytearray(content)
    what = "cut" if rng.random() < 0.3 else "changed"
    if what == "cut":
        del changed[int(rng.integers(len(changed))) :]
    else:  # near the ends, where formats keep what they are
        for _ in range(int(rng.integers(1, 9))):
            reach = min(len(changed), int(10 ** rng.uniform(1, np.log10(len(changed)))))
            place = int(rng.integers(reach))
            changed[place if rng.random() < 0.5 else -1 - place] = int(rng.integers(256))
    path = folder / f"network.{ending}"
    path.write_bytes(bytes(changed))
    verdict = judged(lambda: _used(path, ending))
    return [verdict if verdict in ("accepted", "refused") else f".{ending}, {what}: {verdict}"]


def _used(path: Path, ending: str) -> Any:
    from sidelight.files.cards.choosing import card_for
    from sidelight.files.cards.describing import check_stranger, describe_regions
    from sidelight.files.cards.efficientnet import graph_of

    if ending == "pth":
        return graph_of(path)
    card = card_for(str(path), "pictures" if ending == "onnx" else "sounds")
    assert card is not None
    check_stranger(card)
    if ending == "onnx":  # what passed is no worse in this process
        return describe_regions(card, np.zeros((64, 64, 3), np.uint8), np.zeros((16, 16), np.intp))
    return None


@cache
def _contents() -> dict[str, bytes]:
    """Return one sound file of each kind that is installed."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tests.files.cards.tiny import tiny_network

    from sidelight.files.cards.choosing import missing_package, shipped, weights_of

    found = {"onnx": tiny_network()}
    for card in shipped():
        if not missing_package(card):
            path = weights_of(card)
            found[path.suffix.removeprefix(".")] = path.read_bytes()
    return found
