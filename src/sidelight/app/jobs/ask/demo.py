"""The demo of the ask job: digits, and a simulated person who errs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.datasets import load_digits

from sidelight.active.oracle import Oracle
from sidelight.active.session import ActiveSession
from sidelight.app.jobs.ask.result import AskResult, Progress
from sidelight.app.jobs.ask.work import result_of, share_unsure, write_result
from sidelight.app.jobs.demonstration import Story, images_to_show
from sidelight.app.report import Page
from sidelight.data.dataset import Dataset
from sidelight.metrics import adjusted_rand_index
from sidelight.words import Spell

_ASK = (
    "Handwritten digits, by answers to 80 questions",
    "A simulated person was asked 80 times whether two images show the same digit, and answered one in twenty "
    "wrongly. The session chose the questions; all else it was told is that there are ten digits.",
    "Against the digits' true labels, used only here and by the person, the adjusted Rand index is "
    "{agreement:.2f} (1 is perfect, 0 is chance).",
)


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


def digits(seed: int) -> Conversation:
    """Handwritten digits, and a person who answers 80 questions about them, one in twenty wrongly."""
    images = load_digits()
    data = Dataset(
        images.data, tuple(images.feature_names), path="scikit-learn's digits", show=images_to_show(images.images)
    )
    session = ActiveSession(images.data, 10, random_state=seed)
    person = Oracle(images.target, noise=0.05, random_state=seed)
    at, unsure, agreement = list[int](), list[float](), list[float]()
    for _ in range(8):
        session.run(person, 10)
        at.append(session.n_answers)
        unsure.append(share_unsure(session))
        agreement.append(float(adjusted_rand_index(images.target, session.labels_)))
    result = result_of(data, session, Progress(at, unsure, agreement))
    facts = {"job": "ask", "table": data.path, "rows": data.n_rows, "features": data.n_features, "seed": seed}
    return Conversation(session, result, Story(*_ASK, agreement[-1]), facts)
