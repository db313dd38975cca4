"""What a project hands over and what comes from elsewhere: tables, tasks of Label Studio, pictures that were sent."""

from __future__ import annotations

import json

import pytest
from tests.app.studio.conftest import blobs

from sidelight.app.studio.sources import Source
from sidelight.app.studio.studio import Studio, ago
from sidelight.app.studio.taking import bring_pairs
from sidelight.errors import InvalidData, UnreadableFile


@pytest.fixture
def project(tmp_path):
    """A project with some answers and a note."""
    studio = Studio(tmp_path / "studio")
    source = blobs(12)
    named = Source(source.X, [f"r{i}" for i in range(12)], source.features, source.look, source.y)
    opened = studio.project(studio.add("blobs", named, {"clusters": 3}).id)
    ann, bob = (opened.store.add_person(opened.project.id, name) for name in ("=Ann", "Bob"))
    opened.answer(ann, (0, 3), "same", seconds=1.5)
    opened.answer(bob, (0, 3), "different")
    opened.answer(bob, (0, 4), "unsure")
    opened.note(bob, 4, "odd")
    yield opened
    studio.close()


def task(left, right, *choices):
    results = [{"result": [{"value": {"choices": [choice]}}]} for choice in choices]
    return {"data": {"left": left, "right": right}, "annotations": results}


def test_pairs_of_label_studio_are_brought_once(project, tmp_path):
    path = tmp_path / "tasks.json"
    tasks = [
        task("r0", "r3", "Yes"),
        task("r1", "r2", "no", "different", "same"),
        task("r1", "r1", "same"),
        "nonsense",
        task("r9", "elsewhere", "same"),
        task("r5", "r6", "perhaps"),
        {"data": {}},
        task("r7", "r8"),
        {
            "data": {"left": "r4", "right": "r7"},
            "annotations": ["x", {"result": ["x", {"value": {"choices": "same"}}]}],
        },
    ]
    path.write_text(json.dumps(tasks))
    assert bring_pairs(project, path, "elsewhere") == 2
    assert bring_pairs(project, path, "elsewhere") == 0
    (number,) = [person.id for person in project.people().values() if person.name == "elsewhere"]
    assert {(a.rows, a.answer) for a in project.answers() if a.person == number} == {
        ((0, 3), "same"), ((1, 2), "different")
    }  # fmt: skip
    for content, error in (("{}", InvalidData), ("[]", InvalidData), ("[", UnreadableFile)):
        path.write_text(content)
        with pytest.raises(error):
            bring_pairs(project, path, "elsewhere")
    table = tmp_path / "pairs.csv"
    table.write_text("left,right,answer\nr5,r8,same\nr5,r9,unsure\n")
    assert bring_pairs(project, table, "a table") == 1


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(59.9, "just now"), (60, "1 minute ago"), (3599, "59 minutes ago"), (3600, "1 hour ago"), (86_400, "1 day ago")],
)
def test_how_long_ago_something_was(seconds, words):
    assert ago(seconds) == words
