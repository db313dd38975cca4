"""Projects as cards: what shows them, how much happened in them and when, without opening them."""

from __future__ import annotations

import time
from typing import Any

from sidelight.app.store.studio_store import Activity
from sidelight.app.studio.studio import Studio
from sidelight.words import counted

_STEPS = ((60.0, "minute"), (3600.0, "hour"), (86_400.0, "day"))


def cards_of(studio: Studio) -> list[dict[str, Any]]:
    """Return every project, the one in which something happened last first."""
    active = studio.store.activity()
    cards = []
    for project in studio.store.projects():
        settings = project.settings
        done = active.get(project.id, Activity(0, 0, project.made_at))
        shown = studio.cover_of(project)
        is_study = bool(settings.get("is_study"))
        cards.append(
            {
                "id": project.id,
                "name": project.name,
                "made_at": project.made_at,
                "is_study": is_study,
                "is_archived": bool(settings.get("is_archived")),
                "go": f"/p/{project.id}",
                "kind": "study" if is_study else f"run of {settings['job']}" if settings.get("job") else "questions",
                "pictures": [f"/cover/{project.id}/{i}" for i in range(len(shown.get("pictures", [])))],
                "is_tiny": bool(shown.get("is_tiny")),
                "texts": shown.get("texts", []),
                "rows": shown.get("rows"),
                "answers": done.n_answers,
                "people": done.n_people,
                "last_at": max(done.last_at, project.made_at),
                "last": ago(time.time() - max(done.last_at, project.made_at)),
                "sentence": studio.sentence_of(project.id),
            }
        )
    return sorted(cards, key=lambda card: (-card["last_at"], card["id"]))


def ago(seconds: float) -> str:
    """Say how long ago something was.

    >>> ago(30), ago(150), ago(8000), ago(200_000)
    ('just now', '2 minutes ago', '2 hours ago', '2 days ago')
    """
    words = "just now"
    for length, unit in _STEPS:
        if seconds >= length:
            words = f"{counted(int(seconds // length), unit)} ago"
    return words
