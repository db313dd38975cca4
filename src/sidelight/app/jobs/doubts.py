"""Unanswered questions about a file: a run stops at them."""

from __future__ import annotations

from sidelight.app.jobs.options import Roles
from sidelight.data.dataset import Dataset
from sidelight.errors import Undecided
from sidelight.words import Setting, counted


def check_doubts(data: Dataset, roles: Roles) -> None:
    """Raise the first unanswered question about a file; a yes takes the first reading."""
    if roles.yes or not data.doubts:
        return
    doubt = data.doubts[0]
    advice: list[str | Setting] = ["Say which: "]
    for words, settings in doubt.readings:
        for name, value in settings.items():
            advice += [Setting(name, value), " "]
        advice += [f"({words}), "]
    advice[-1] = f"{str(advice[-1])[:-2]}; or take the first with "
    others = f" ({counted(len(data.doubts) - 1, 'other question')} follow.)" if len(data.doubts) > 1 else ""
    raise Undecided(f"{data.path!r}: {doubt.question}{others}", do=[*advice, Setting("yes", True), "."])
