"""Sorting in the studio, over HTTP: screens, piles, what stands, and what is handed over."""

from __future__ import annotations

import csv
import io
import random
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from tests.app.studio.conftest import blobs

from sidelight.app.store.studio_store import Event
from sidelight.app.studio.history import Replay
from sidelight.app.studio.open_screens import USUAL
from sidelight.app.studio.sorting import pace_of
from sidelight.app.studio.studio import Studio
from sidelight.files.placements import read_placements
from sidelight.metrics import adjusted_rand_index


@pytest.fixture(scope="module")
def local(running):
    return running(sources=[("blobs", blobs(90), {}), ("other", blobs(60, seed=3), {})])


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Wait for screens that know of the last one, also on a busy machine."""
    monkeypatch.setattr("sidelight.app.studio.web.sorting.WAIT", 20.0)
    monkeypatch.setattr("sidelight.app.studio.web.sorting.WAIT_MORE", 20.0)


@pytest.fixture
def sitting(local, request):
    """A project of its own, and people who sort."""
    name = request.node.name[:70]
    project = local.studio.add(name, blobs(90), {})
    truth = local.studio.project(project.id).rows.truth

    def person(called):
        made = local.client.post(f"/api/projects/{project.id}/people", json={"name": called}).json()
        return f"/api{made['link']}"

    return SimpleNamespace(
        client=local.client, id=project.id, person=person, truth=truth, project=local.studio.project(project.id)
    )


def told(found, truth):
    """What a person who knows says of a screen."""
    rows = [row["row"] for row in found["screen"]["rows"]]
    kinds = {int(truth[pile["row"]]): pile["number"] for pile in found["piles"] if pile["row"] is not None}
    new = {}
    placements = [kinds.get(int(truth[row]), new.setdefault(int(truth[row]), -1 - len(new))) for row in rows]
    return {
        "rows": rows, "placements": placements, "number": found["screen"]["number"], "screen": found["screen"]["key"],
        "seconds": 12.0,
    }  # fmt: skip


def sort_some(sitting, link, n):
    found = sitting.client.get(f"{link}/screen").json()
    for _ in range(n):
        response = sitting.client.post(f"{link}/screens", json=told(found, sitting.truth))
        assert response.status_code == 200, response.text
        found = response.json()
    return found


def piles_of(sitting, link):
    return {pile["name"]: pile["size"] for pile in sitting.client.get(f"{link}/screen").json()["piles"]}


def test_a_few_screens_find_the_kinds(sitting):
    link = sitting.person("ann")
    found = sort_some(sitting, link, 4)
    assert found["status"]["placed"] == 40
    assert len(found["piles"]) == 3
    assert all(row["likely"] for row in found["screen"]["rows"])
    snapshot = sitting.project.model.snapshot()
    assert adjusted_rand_index(sitting.truth, snapshot.labels) > 0.95
    assert set(sitting.project.names(snapshot.labels)) == {"pile 1", "pile 2", "pile 3"}


def test_several_people_sort_different_rows(sitting):
    links = [sitting.person(name) for name in ("ann", "bob", "cai")]
    shown = [sitting.client.get(f"{link}/screen").json() for link in links]
    rows = [row["row"] for found in shown for row in found["screen"]["rows"]]
    assert len(set(rows)) == len(rows) == 30
    with ThreadPoolExecutor(3) as pool:
        done = list(
            pool.map(
                lambda one: sitting.client.post(f"{one[0]}/screens", json=told(one[1], sitting.truth)).status_code,
                zip(links, shown),
            )
        )
    assert done == [200] * 3
    placed = sitting.project.standing.piles.votes
    assert set(placed) == set(rows)


def test_what_is_sent_again_is_kept_once(sitting):
    link = sitting.person("ann")
    body = told(sitting.client.get(f"{link}/screen").json(), sitting.truth) | {"key": "k1"}
    first, again = (sitting.client.post(f"{link}/screens", json=body) for _ in range(2))
    assert first.json()["saved"] == again.json()["saved"]
    assert sitting.project.standing.n_placed == 10


def test_a_screen_answered_twice_stands_as_it_was(sitting):
    link = sitting.person("ann")
    body = told(sitting.client.get(f"{link}/screen").json(), sitting.truth)
    sitting.client.post(f"{link}/screens", json=body)
    again = sitting.client.post(f"{link}/screens", json=body | {"placements": ["aside"] * 10})
    assert again.status_code == 409
    assert "answered already" in again.json()["error"]
    assert sitting.project.standing.n_placed == 10


BAD = [
    (lambda body: body | {"placements": []}, "empty"),
    (lambda body: body | {"placements": body["placements"][:3]}, "3 placements for 10 rows"),
    (lambda body: body | {"placements": [77] * 10}, "no pile 77"),
    (lambda body: body | {"rows": body["rows"][:9] + body["rows"][:1], "screen": ""}, "twice"),
    (lambda body: body | {"rows": [*body["rows"][:9], 90], "screen": ""}, "90"),
    (lambda body: body | {"rows": body["rows"][::-1]}, "another project"),
    (lambda body: body | {"rows": [], "placements": [], "screen": ""}, "no row"),
]


@pytest.mark.parametrize(("spoil", "words"), BAD)
def test_what_cannot_be_is_told_and_loses_nothing(sitting, spoil, words):
    link = sitting.person("ann")
    found = sort_some(sitting, link, 1)
    body = told(found, sitting.truth)
    refused = sitting.client.post(f"{link}/screens", json=spoil(body))
    assert refused.status_code == 422
    assert words in refused.json()["error"]
    assert sitting.project.standing.n_placed == 10
    assert sitting.client.post(f"{link}/screens", json=body).status_code == 200


def test_a_screen_of_another_project_is_refused(sitting, local):
    link = sitting.person("ann")
    sitting.client.get(f"{link}/screen")
    other = local.client.post("/api/projects/2/people", json={"name": sitting.project.project.name[:60]}).json()["link"]
    body = told(local.client.get(f"/api{other}/screen").json(), local.studio.project(2).rows.truth)
    refused = sitting.client.post(f"{link}/screens", json=body)
    assert refused.status_code == 422
    assert "another project" in refused.json()["error"]


def test_a_placement_on_a_merged_pile_is_told_and_the_rest_is_kept(sitting):
    ann, bob = sitting.person("ann"), sitting.person("bob")
    sort_some(sitting, ann, 1)
    shown = sitting.client.get(f"{bob}/screen").json()
    kept, gone = (pile["number"] for pile in shown["piles"][:2])
    merged = sitting.client.post(f"{ann}/piles", json={"act": "merge", "pile": kept, "other": gone})
    assert merged.status_code == 200
    body = told(shown, sitting.truth) | {"placements": [gone] * 10}
    refused = sitting.client.post(f"{bob}/screens", json=body)
    assert refused.status_code == 422
    assert f"merged into pile {kept}" in refused.json()["error"]
    assert sitting.client.post(f"{bob}/screens", json=body | {"placements": [kept] * 10}).status_code == 200


def test_piles_are_named_merged_kept_apart_and_split(sitting):
    link = sitting.person("ann")
    found = sort_some(sitting, link, 2)
    one, other = (pile["number"] for pile in found["piles"][:2])
    change = lambda **body: sitting.client.post(f"{link}/piles", json=body)  # noqa: E731
    assert change(act="rename", pile=one, name="wren").status_code == 200
    assert change(act="rename", pile=other, name="wren").status_code == 422
    assert change(act="rename", pile=99, name="owl").status_code == 422
    assert change(act="apart", pile=one, other=other).status_code == 200
    assert change(act="merge", pile=one, other=other).status_code == 200
    shown = sitting.client.get(f"{link}/piles/{one}").json()
    assert shown["name"] == "wren"
    rows = [card["row"] for card in shown["cards"][:2]]
    assert change(act="split", pile=one, rows=rows, name="owl").status_code == 200
    assert piles_of(sitting, link)["owl"] == 2
    assert sitting.client.post(f"{link}/undo", json={}).json()["answer"].startswith("split pile")
    assert "owl" not in piles_of(sitting, link)


def test_undo_shows_the_screen_again_with_what_was_said(sitting):
    link = sitting.person("ann")
    sort_some(sitting, link, 1)
    body = told(sitting.client.get(f"{link}/screen").json(), sitting.truth)
    sitting.client.post(f"{link}/screens", json=body)
    taken = sitting.client.post(f"{link}/undo", json={}).json()
    assert taken["rows"] == body["rows"]
    assert taken["placements"] == body["placements"]
    again = sitting.client.get(f"{link}/screen").json()
    assert [row["row"] for row in again["screen"]["rows"]] == body["rows"]
    assert sitting.client.post(f"{link}/screens", json=told(again, sitting.truth)).status_code == 200
    assert sitting.project.standing.n_placed == 20


def test_a_phone_sorts_four_at_a_time(sitting):
    link = sitting.person("ann")
    found = sitting.client.get(f"{link}/screen?n=4").json()
    assert len(found["screen"]["rows"]) == 4
    after = sitting.client.post(f"{link}/screens?n=4", json=told(found, sitting.truth)).json()
    assert len(after["screen"]["rows"]) == 4


def test_a_new_pile_has_the_name_it_is_given(sitting):
    link = sitting.person("ann")
    found = sitting.client.get(f"{link}/screen").json()
    body = told(found, sitting.truth)
    body |= {"placements": [-1] * 5 + ["aside"] * 5, "called": {"-1": "wren"}}
    after = sitting.client.post(f"{link}/screens", json=body).json()
    assert [(pile["name"], pile["size"]) for pile in after["piles"]] == [("wren", 5)]


def test_placements_are_read_back(sitting, tmp_path):
    link = sitting.person("ann")
    sort_some(sitting, link, 3)
    text = sitting.client.get(f"/p/{sitting.id}/placements.csv").text
    (tmp_path / "placements.csv").write_text(text, encoding="utf-8")
    lines = list(csv.DictReader(io.StringIO(text)))
    assert len(lines) == 30
    assert {line["person"] for line in lines} == {"ann"}
    pairs = read_placements(tmp_path / "placements.csv", sitting.project.rows.ids)
    for a, b, word in [(*one.rows, one.answer) for one in pairs.answers]:
        assert (sitting.truth[a] == sitting.truth[b]) == (word == "same")


def test_every_table_knows_what_was_sorted(sitting):
    link = sitting.person("ann")
    body = told(sitting.client.get(f"{link}/screen").json(), sitting.truth)
    sitting.client.post(f"{link}/screens", json=body | {"placements": ["wren"] * 9 + ["aside"]})
    row, ids = body["rows"][0], sitting.project.rows.ids
    merged = list(csv.DictReader(io.StringIO(sitting.client.get(f"/p/{sitting.id}/merged.csv").text)))
    assert (merged[row]["said"], merged[row]["answers"], merged[row]["people"]) == ("ann: wren", "1", "1")
    assert merged[body["rows"][9]]["said"] == ""
    tasks = sitting.client.get(f"/p/{sitting.id}/label-studio.json").json()
    (made,) = next(task for task in tasks if task["data"].get("row") == ids[row])["annotations"]
    assert made["result"][0]["value"]["choices"] == ["wren"]
    assert sitting.client.get(f"/api/projects/{sitting.id}/people").json()["people"][0]["placed"] == 10
    (line,) = sitting.client.get(f"{link}/history").json()["answers"]
    assert line["answer"] == "10 rows sorted: 9 on wren, 1 aside"
    edited = sitting.client.post(f"{link}/history/{line['id']}", json={"answer": "same"})
    assert edited.status_code == 422
    assert sitting.client.post(f"{link}/history/{line['id']}", json={"answer": None}).status_code == 200
    assert sitting.project.standing.n_placed == 0


def test_a_correction_of_a_pile_moves_the_row(sitting):
    link = sitting.person("ann")
    sort_some(sitting, link, 3)
    snapshot = sitting.project.model.snapshot()
    row = int(np.flatnonzero(snapshot.labels == 0)[0])
    body = {"row": row, "cluster": 1, "is_member": True}
    assert sitting.client.post(f"/api/projects/{sitting.id}/corrections", json=body).status_code == 200
    after = sitting.project.model.snapshot().labels
    others = np.flatnonzero(snapshot.labels == 1)
    assert after[row] == np.bincount(after[others]).argmax()
    text = sitting.client.get(f"/p/{sitting.id}/placements.csv").text
    piles = {line["row"]: line["pile"] for line in csv.DictReader(io.StringIO(text))}
    assert piles[sitting.project.rows.ids[row]] == sitting.project.names(after)[after[row]]


def test_pairs_told_before_begin_the_piles_and_stay(sitting):
    link = sitting.person("ann")
    truth = sitting.truth
    for a, b in [(0, 1), (0, 3), (1, 4), (0, 2), (2, 5), (1, 2), (3, 5)]:
        word = "same" if truth[a] == truth[b] else "different"
        sitting.client.post(f"{link}/answers", json={"rows": [a, b], "answer": word})
    sitting.project.model.snapshot()
    found = sitting.client.get(f"{link}/screen").json()
    begun = {pile["number"]: pile["size"] for pile in found["piles"]}
    assert begun
    after = sitting.client.post(f"{link}/screens", json=told(found, truth)).json()
    assert len(after["piles"]) == 3
    assert adjusted_rand_index(truth, sitting.project.model.snapshot().labels) > 0.9


def test_a_restart_knows_every_pile(tmp_path):
    studio = Studio(tmp_path)
    number = studio.add("blobs", blobs(90), {}).id
    project = studio.project(number)
    from sidelight.app.studio.sorting import Said, keep_act, keep_screen, screen_of

    ann = studio.add_person(number, "ann")
    for _ in range(3):
        found = screen_of(project, ann)
        body = told(found, project.rows.truth)
        keep_screen(project, ann, Said(body["rows"], body["placements"], {}, body["number"], body["screen"], 9.0))
    keep_act(project, ann, "rename", 0, name="wren")
    labels, names = project.model.snapshot().labels, dict(project.standing.piles.names)
    studio.close()
    again = Studio(tmp_path)
    project = again.project(number)
    assert project.standing.piles.names == names
    assert adjusted_rand_index(labels, project.model.snapshot().labels) == 1.0
    assert screen_of(project, ann)["piles"][0]["name"] == "wren"
    again.close()


def test_the_pace_is_a_person_s_own(sitting):
    link = sitting.person("ann")
    ann = next(p for p in sitting.project.people().values() if p.name == "ann")
    assert pace_of(sitting.project, ann.id) == USUAL
    sort_some(sitting, link, 3)
    assert pace_of(sitting.project, ann.id) == (USUAL[0], 0.0, 1.2)


def test_who_is_slow_at_rows_is_asked_two_by_two(local):
    made = local.studio.add("slow", blobs(90, apart=1.5), {"by": "auto"})
    link = "/api" + local.client.post(f"/api/projects/{made.id}/people", json={"name": "ann"}).json()["link"]
    truth = local.studio.project(made.id).rows.truth
    assert local.client.get(f"{link}/way").json() == {"way": "piles"}
    found = local.client.get(f"{link}/screen").json()
    for _ in range(4):
        found = local.client.post(f"{link}/screens", json=told(found, truth) | {"seconds": 3000.0}).json()
    local.client.post(f"{link}/screens", json=told(found, truth) | {"seconds": 3000.0})
    local.studio.project(made.id).model.snapshot()
    assert local.client.get(f"{link}/way").json() == {"way": "pairs"}
    page = local.client.get(link.removeprefix("/api"))
    assert 'id="ask"' in page.text
    assert 'id="sort"' in local.client.get(link.removeprefix("/api") + "?by=piles").text
    assert local.client.get(link.removeprefix("/api") + "?by=sight").status_code == 404


def test_who_is_set_aside_sorts_nothing(sitting):
    ann, bob = sitting.person("ann"), sitting.person("bob")
    sort_some(sitting, ann, 2)
    sort_some(sitting, bob, 1)
    number = next(p.id for p in sitting.project.people().values() if p.name == "ann")
    sitting.client.post(f"/api/projects/{sitting.id}/people/{number}/aside", json={"is_aside": True})
    voters = {who for votes in sitting.project.standing.piles.votes.values() for _, who in votes}
    assert number not in voters
    sort_some(sitting, bob, 1)
    sitting.project.model.snapshot()
    assert not sitting.project.model.failure
    sitting.client.post(f"/api/projects/{sitting.id}/people/{number}/aside", json={"is_aside": False})
    assert len(sitting.project.standing.piles.votes) >= 30
    sitting.project.model.snapshot()
    assert not sitting.project.model.failure


def test_a_fixed_list_is_not_sorted(local):
    made = local.studio.add("a list", blobs(30), {"strategy": "fixed", "questions": [[0, 1]]})
    link = local.client.post(f"/api/projects/{made.id}/people", json={"name": "ann"}).json()["link"]
    refused = local.client.get(f"/api{link}/screen")
    assert refused.status_code == 422
    assert "not sorted" in refused.json()["error"]


# -- what stands -----------------------------------------------------------------------------------------------------


def _events(seed):
    """Random events about piles, as people and undos make them; some make no sense any more."""
    rng, events = random.Random(seed), []
    n_begun, ids = 0, []
    for number in range(1, 40):
        kind = rng.choice(["screen", "screen", "screen", "undo", "merge piles", "rename pile", "split pile", "aside"])
        person = rng.randint(1, 3)
        if kind == "undo" and ids:
            content = {"of": rng.choice(ids)}
        elif kind == "aside":
            content = {"of": person, "is_aside": rng.random() < 0.4}
        elif kind == "screen" or n_begun < 3 or kind == "undo":
            kind, rows = "screen", rng.sample(range(60), 4)
            piles = [None if rng.random() < 0.1 else rng.randint(0, n_begun) for _ in rows]
            n_begun = max([n_begun, *(pile + 1 for pile in piles if pile is not None)])
            content = {"rows": rows, "piles": piles}
        else:
            a, b = rng.sample(range(n_begun), 2)
            content = {"rows": [], "piles": [a, b] if kind == "merge piles" else [a]}
            if kind == "rename pile":
                content["names"] = {str(a): f"name {number}"}
            if kind == "split pile":
                content = {"rows": [rng.randrange(60)], "piles": [a, n_begun]}
                n_begun += 1
        if kind not in ("undo", "aside"):
            ids.append(number)
        events.append(Event(number, 1, person, kind, content, float(number), 1.0))
    return events


@pytest.mark.parametrize("seed", range(12))
def test_piles_are_what_a_plain_replay_says(seed):
    events = _events(seed)
    replay = Replay()
    for at, event in enumerate(events, start=1):
        replay.take(event)
        undone = {e.content["of"] for e in events[:at] if e.kind == "undo"}
        plain = Replay(e for e in events[:at] if e.id not in undone and e.kind != "undo")
        now, then = replay.standing.piles, plain.standing.piles
        assert now.votes == then.votes
        assert now.names == then.names
        assert list(replay.standing.heard) == list(plain.standing.heard)
        assert now.n_begun >= then.n_begun  # a number is never used again
