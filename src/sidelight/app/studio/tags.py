"""Tags of photographs, or of any bags: those that they have, those that are suggested, and what people say of both.

A tag is there, is not, or is open; the last word about it stands. A bag of which somebody said that these tags are all
has a list from then on, with which the job can run again; single tags of another bag are exported, and are no list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sidelight.app.store.studio_store import Person
from sidelight.app.studio.answers import check_label
from sidelight.app.studio.history import TAGS, Standing
from sidelight.app.studio.project import OpenProject
from sidelight.app.studio.run.project import RunProject
from sidelight.app.studio.run.start import Found, Start
from sidelight.errors import InvalidData, UnknownName

PAGE = 12  # photographs on a page
ALL = ""  # the tag of which is said that there are no others
_MOST = 200  # tags of which something is said at once


def with_tags(project: OpenProject) -> RunProject:
    """Return a project that has tags, or say why it has none."""
    if not isinstance(project, RunProject) or not project.start.found:
        raise InvalidData(
            "This project has no tags: it was not made from a run of instances that named rows by lists of bags."
        )
    return project


def keep_tags(project: RunProject, person: Person, bag: str, said: Mapping[str, bool | None]) -> None:
    """Keep what a person says of tags of a bag: each is there, is not, or is open again; "": these are all."""
    if bag not in project.start.bag_names:
        raise UnknownName(f"This project has nothing called {bag!r:.80}.")
    if not 1 <= len(said) <= _MOST:
        raise InvalidData(f"Something is said of 1 to {_MOST} tags at a time. Got {len(said)}.")
    for label in said:
        if "|" in label:
            raise InvalidData(f"A tag has no mark |, which stands between tags in files. Got {label!r:.80}.")
    words = {check_label(label) if label else ALL: is_there for label, is_there in said.items()}
    project.keep(person, TAGS, {"bag": bag, "said": words})


def tags_shown(project: RunProject, *, is_open: bool, start: int) -> dict[str, Any]:
    """Return a page of bags, those without a list first or alone, and how far all of them are."""
    said = _said(project)
    order = sorted(range(len(project.start.bag_names)), key=lambda b: project.start.lists[b] is not None)
    shown = [b for b in order if project.start.lists[b] is None] if is_open else order
    return {
        "bags": [_looked_at(project, b) | _state(project, b, said) for b in shown[start : start + PAGE]],
        "n": len(shown), "start": start, "step": PAGE, **_counts(project, said), "last": _last(project),
    }  # fmt: skip


def tags_since(project: RunProject, after: int) -> dict[str, Any]:
    """Return the bags of which something was said after an event, as they are now."""
    project.events()
    said, names = _said(project), {b: i for i, b in enumerate(project.start.bag_names)}
    new = {str(event.content["bag"]) for event in project.told_of_tags() if event.id > after}
    changed = [_state(project, names[bag], said) for bag in sorted(new) if bag in names]
    return {"bags": changed, **_counts(project, said), "last": _last(project)}


def tags_table(project: RunProject) -> dict[str, list[Any]]:
    """Return the tags of every bag that has a list or of which something was said, as tables of labels are read."""
    said, start = _said(project), project.start
    columns: dict[str, list[Any]] = {"file": [], "labels": [], "confirmed": [], "refused": []}
    for b, bag in enumerate(start.bag_names):
        words = said.get(bag, {})
        if start.lists[b] is None and not words:
            continue
        has = [one["label"] for one in _tags(start, b, words) if one["state"] in ("listed", "there")]
        columns["file"].append(bag)
        columns["labels"].append("|".join(has) if start.lists[b] is not None or _is_all(words) else "")
        columns["confirmed"].append("|".join(label for label, (is_there, _) in words.items() if label and is_there))
        columns["refused"].append("|".join(label for label, (is_there, _) in words.items() if label and not is_there))
    return columns


Said = dict[str, tuple[bool, int]]  # of each tag whether it is there, and who spoke last of it


def _said(project: RunProject) -> dict[str, Said]:
    """Return what counts of each bag: of each tag the last word of all people."""
    found: dict[str, Said] = {}
    with project.lock:
        standing: Standing = project.standing
        for (bag, label), words in standing.tagged.items():
            last = next((word for word in reversed(words) if word.person not in standing.aside), None)
            if last is not None and last.is_there is not None:
                found.setdefault(bag, {})[label] = last.is_there, last.person
    return found


def _is_all(said: Said) -> bool:
    return said.get(ALL, (False, 0))[0]


def _tags(start: Start, b: int, said: Said) -> list[dict[str, Any]]:
    """Return the tags of a bag: listed, suggested, there or absent by people, with the rows that show them."""
    known = {one.label for one in start.found[b]}
    more = [Found(label, None, False, ()) for label in said if label not in known and label != ALL]
    made = []
    for one in (*start.found[b], *more):
        is_there, who = said.get(one.label, (None, None))
        state = {None: "listed" if one.is_listed else "suggested", True: "there", False: "absent"}[is_there]
        made.append({"label": one.label, "state": state, "chance": one.chance, "rows": list(one.rows), "person": who})
    return made


def _state(project: RunProject, b: int, said: Mapping[str, Said]) -> dict[str, Any]:
    """Return a bag with its tags and who spoke of them."""
    bag = project.start.bag_names[b]
    words = said.get(bag, {})
    people = project.people() if words else {}
    tags = _tags(project.start, b, words)
    for tag in tags:
        who = people.get(tag.pop("person"))
        tag["by"] = "" if who is None else who.name
    return {"bag": bag, "tags": tags, "is_listed": project.start.lists[b] is not None, "is_all": _is_all(words)}


def _looked_at(project: RunProject, b: int) -> dict[str, Any]:
    """Return what there is to see of a bag: the whole picture with the boxes of its rows, else its rows."""
    rows = [int(row) for row in (project.start.bags == b).nonzero()[0]]
    boxes = {row: project.rows.parts[row] for row in rows} if project.rows.parts else {}
    if boxes and all(boxes.values()):
        places = {row: list(part[1]) for row, part in boxes.items() if part is not None}
        return {"whole": project.address(rows[0], "whole"), "boxes": places}
    return {"whole": "", "cards": project.cards(rows[:PAGE])}


def _counts(project: RunProject, said: Mapping[str, Said]) -> dict[str, int]:
    start = project.start
    left = [b for b, bag in enumerate(start.bag_names) if start.lists[b] is None and not _is_all(said.get(bag, {}))]
    return {"n_bags": len(start.bag_names), "n_open": sum(x is None for x in start.lists), "n_left": len(left)}


def _last(project: RunProject) -> int:
    return max((event.id for event in project.told_of_tags()), default=0)
