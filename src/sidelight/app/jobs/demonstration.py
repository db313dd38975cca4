"""A demo: data that need no download, a run on them, and a story that compares it with a truth no method saw."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.result import Result
from sidelight.words import Spell

if TYPE_CHECKING:
    from sidelight.app.report import Page


@dataclass(frozen=True, eq=False)
class Story:
    """What a demo tells.

    Attributes
    ----------
    title : str
        The heading of its page.
    what : str
        What the data are, and what was held back.
    outcome : str
        How the clusters match the truth; ``{agreement}`` and ``{share}`` (a percentage) stand for the figure.
    agreement : float
        How well the clusters match the truth, which only the demo knows.
    """

    title: str
    what: str
    outcome: str
    agreement: float


class Demonstration(Protocol):
    """What the demo command needs of a demo."""

    @property
    def result(self) -> Result:
        """What was found."""

    @property
    def story(self) -> Story:
        """What it tells."""

    def write(self, folder: Path, *, spell: Spell, page: Page, command: str) -> None:
        """Write the demo into a folder of its own."""


@dataclass(frozen=True, eq=False)
class Demo:
    """What was run, what it found, and its story."""

    config: RunConfig
    result: Result
    story: Story

    def write(self, folder: Path, *, spell: Spell, page: Page, command: str) -> None:
        """Write the demo into a folder of its own."""
        from sidelight.app.jobs.run import publish

        publish(self.config, self.result, folder, spell=spell, page=page, command=command)


def images_to_show(images: np.ndarray) -> dict[str, np.ndarray]:
    """Return images as a column to show, an array of pixels in each cell."""
    cells = np.empty(len(images), dtype=object)
    cells[:] = list(images)
    return {"image": cells}


def pixel_names(X: Any) -> tuple[str, ...]:
    """Name the columns of images."""
    return tuple(f"pixel {j}" for j in range(X.shape[1]))
