"""Tags of photographs: shown with what is suggested and where, confirmed and refused, and taken back into the run."""

from __future__ import annotations

import csv
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from tests.app.studio.runs import results_of, write_tables

from sidelight.app.jobs.export import export
from sidelight.app.jobs.roles import Roles
from sidelight.app.studio.making import make_project
from sidelight.app.studio.run.project import repeat
from sidelight.app.studio.run.results import open_results
from sidelight.app.studio.seeing import presence_table
from sidelight.app.studio.tags import tags_table
from sidelight.errors import InvalidParameter, OutputExists

COLOURS = {"grass": (40, 150, 50), "sky": (90, 150, 230), "brick": (170, 70, 40)}
SETTINGS = {"kind": "pair", "strategy": "rows", "questions": None, "overlap": False, "clusters": None, "seed": 0}
HIDDEN = 8  # photographs that nobody tagged


def write_photographs(folder, n=32):
    """Write photographs of two or three bands each, and the tags of all but some; return the tags of all."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    truth = {}
    for k in range(n):
        names = sorted(rng.permutation(list(COLOURS))[: 2 + k % 2].tolist())
        pixels = np.zeros((120, 160, 3))
        for band, name in zip(np.array_split(np.arange(120), len(names)), names):
            pixels[band] = COLOURS[name]
        pixels += rng.normal(0, 9, size=pixels.shape)
        Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(folder / f"p{k:02}.jpg")
        truth[f"p{k:02}.jpg"] = names
    with (folder.parent / "tags.csv").open("w", newline="") as file:
        told = [(name, "|".join(tags)) for name, tags in list(truth.items())[HIDDEN:]]
        csv.writer(file).writerows([("file", "tags"), *told])
    return truth


@pytest.fixture(scope="module")
def made(running, tmp_path_factory):
    """A studio with a project of tagged photographs, made as ``studio new`` makes it."""
    place = tmp_path_factory.mktemp("estate")
    truth = write_photographs(place / "photos")
    server = running(sources=[])
    roles = Roles(label_file=str(place / "tags.csv"), embed="none")
    name, notes = make_project(str(place / "photos"), "estate", str(server.studio.folder), None, roles, SETTINGS)
    return SimpleNamespace(server=server, truth=truth, place=place, notes=notes, name=name)


@pytest.fixture
def estate(made):
    """The results in a copy of their own for each test, opened."""
    home = made.server.studio.folder / "runs" / f"copy {len(made.server.studio.store.projects())}"
    shutil.copytree(made.server.studio.folder / "runs" / "estate", home)
    project = made.server.studio.project(open_results(made.server.studio, str(home)).id)
    api = f"/api/projects/{project.project.id}/tags"
    return SimpleNamespace(
        client=made.server.client, studio=made.server.studio, project=project, api=api, home=home, truth=made.truth,
        place=made.place,
    )  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    return results_of(write_tables(folder), "coverage", folder)


@pytest.fixture
def birds(running, finished, tmp_path):
    """The results of a run on rows in bags, opened: recordings with the birds on their lists."""
    home = shutil.copytree(finished, finished.with_name(tmp_path.name))  # beside its table
    server = running(sources=[])
    project = server.studio.project(open_results(server.studio, str(home)).id)
    return SimpleNamespace(client=server.client, project=project, api=f"/api/projects/{project.project.id}/tags")


def said(estate, bag, api=None, **tags):
    answer = estate.client.post(api or estate.api, json={"bag": bag, "said": tags})
    assert answer.status_code == 200, answer.text
    return {tag["label"]: tag["state"] for one in answer.json()["bags"] if one["bag"] == bag for tag in one["tags"]}


def table_of(estate):
    return {line[0]: line[1:] for line in zip(*tags_table(estate.project).values())}


@pytest.mark.slow
def test_a_project_of_a_folder_with_tags_uses_them(made):
    assert made.name == "estate"
    assert any("32 bags (24 labelled)" in note for note in made.notes)
    (project,) = [one for one in made.server.studio.store.projects() if one.name == "estate"]
    assert project.settings["has_tags"]
    assert project.settings["material"] == "pictures"
    roles = Roles(label_file=str(made.place / "tags.csv"), embed="none")
    folder = str(made.server.studio.folder)
    photos, whole = str(made.place / "photos"), Roles(label_file=roles.label_file, whole=True)
    with pytest.raises(OutputExists, match="'estate' already"):
        make_project(photos, "estate", folder, None, roles, SETTINGS)
    with pytest.raises(InvalidParameter, match="whole ones"):
        make_project(photos, "other", folder, None, whole, SETTINGS)
    with pytest.raises(InvalidParameter, match="'strategy' is about other questions"):
        make_project(photos, "other", folder, None, roles, SETTINGS | {"strategy": "info"})


@pytest.mark.slow
def test_photographs_without_tags_come_first_with_suggestions_and_where_they_come_from(estate):
    found = estate.client.get(estate.api).json()
    assert (found["n"], found["n_bags"], found["n_open"], found["n_left"]) == (32, 32, HIDDEN, HIDDEN)
    first = found["bags"][:HIDDEN]
    assert {one["bag"] for one in first} == set(list(estate.truth)[:HIDDEN])
    assert not any(one["is_listed"] for one in first)
    hits = misses = 0
    for one in first:
        right = set(estate.truth[one["bag"]])
        likely = {tag["label"] for tag in one["tags"] if tag["chance"] > 0.5}
        hits, misses = hits + len(right & likely), misses + len(right ^ likely)
        assert all(tag["state"] == "suggested" and tag["rows"] for tag in one["tags"])
        assert set(map(int, one["boxes"])) >= {row for tag in one["tags"] for row in tag["rows"]}
        assert estate.client.get(one["whole"]).headers["content-type"] in ("image/jpeg", "image/png")
    assert hits > 6 * misses
    listed = found["bags"][HIDDEN]
    assert {tag["label"] for tag in listed["tags"] if tag["state"] == "listed"} == set(estate.truth[listed["bag"]])
    assert all(tag["chance"] is None for tag in listed["tags"] if tag["state"] == "listed")
    only = estate.client.get(estate.api, params={"without": True}).json()
    assert only["n"] == HIDDEN


def test_a_colleague_sees_at_once_what_was_said_and_who_said_it(birds):
    link = birds.client.post(f"/api/projects/{birds.project.project.id}/people", json={"name": "ann"}).json()["link"]
    assert said(birds, "rec0", f"/api{link}/tags", robin=True, wren=False)["wren"] == "absent"
    news = birds.client.get(f"{birds.api}/news").json()
    assert [one["bag"] for one in news["bags"]] == ["rec0"]
    assert {tag["label"]: tag["by"] for tag in news["bags"][0]["tags"]}["robin"] == "ann"
    assert birds.client.get(f"{birds.api}/news", params={"after": news["last"]}).json()["bags"] == []
    assert said(birds, "rec0", wren=True)["wren"] == "there"  # the last word stands
    assert said(birds, "rec0", f"/api{link}/tags", robin=None).get("robin") is None
    assert said(birds, "rec0", f"/api{link}/tags", robin=True)["robin"] == "there"
    ann = next(p for p in birds.project.people().values() if p.name == "ann")
    birds.project.set_aside(ann.id, True)
    assert table_of(birds)["rec0"][1:] == ("wren", "")


def test_who_may_look_changes_no_tags(birds):
    made = birds.client.post(
        f"/api/projects/{birds.project.project.id}/people", json={"name": "eve", "role": "viewer"}
    ).json()
    answer = birds.client.post(f"/api{made['link']}/tags", json={"bag": "rec0", "said": {"robin": True}})
    assert answer.status_code == 403
    assert birds.client.get(f"/api{made['link']}/tags").status_code == 200


def test_what_is_said_is_checked(birds):
    for bag, tags, status in (
        ("rec99", {"sky": True}, 404), ("rec0", {}, 422), ("rec0", {"a|b": True}, 422),
        ("rec0", {"\n": True}, 422), ("rec0", {"x" * 201: True}, 422), ("rec0", {"sky": "maybe"}, 422),
    ):  # fmt: skip
        assert birds.client.post(birds.api, json={"bag": bag, "said": tags}).status_code == status
    assert birds.client.get(f"{birds.api}/news").json()["last"] == 0


def test_tags_of_a_list_are_refused_and_added_to(birds):
    before = dict(zip(birds.project.start.bag_names, birds.project.start.lists))["rec3"]
    assert table_of(birds)["rec3"] == ("|".join(before), "", "")
    said(birds, "rec3", **{before[0]: False, "zebra": True})
    assert table_of(birds)["rec3"] == ("|".join([*before[1:], "zebra"]), "zebra", before[0])
    assert (
        f"rec3,{'|'.join([*before[1:], 'zebra'])}" in birds.client.get(f"/p/{birds.project.project.id}/tags.csv").text
    )
    assert birds.project.progress()["n_new"] == 1


def test_presence_is_one_table_in_the_order_of_dates(birds):
    table = presence_table(birds.project, birds.project.model.snapshot())
    assert table["bag"][:2] == ["rec0", "rec1"]
    assert sum(sum(cells) for name, cells in table.items() if name != "bag") == 90
    object.__setattr__(birds.project.start, "bag_names", tuple(f"rec_{20260530 - b}" for b in range(18)))
    dated = presence_table(birds.project, birds.project.model.snapshot())
    assert dated["date"][0] == "2026-05-13"
    assert dated["date"] == sorted(dated["date"])
    number = birds.project.project.id
    assert birds.client.get(f"/p/{number}/presence.csv").text.splitlines()[1].startswith("rec_20260513,2026-05-13,")
    assert "<th>date</th>" in birds.client.get(f"/p/{number}/presence").text
    assert f'href="/p/{number}/presence"' in birds.client.get(f"/p/{number}/clusters").text


@pytest.mark.slow
def test_only_tags_that_are_all_are_a_list_and_the_others_are_kept_apart(estate):
    said(estate, "p00.jpg", grass=True, brick=False)
    assert table_of(estate)["p00.jpg"] == ("", "grass", "brick")
    estate.client.post(estate.api, json={"bag": "p00.jpg", "said": {"": True}})
    assert table_of(estate)["p00.jpg"] == ("grass", "grass", "brick")


@pytest.mark.slow
def test_the_run_is_repeated_with_the_tags_and_exports_them(estate):
    assert estate.project.progress()["n_new"] == 0
    right = estate.truth["p00.jpg"]
    estate.client.post(estate.api, json={"bag": "p00.jpg", "said": {**dict.fromkeys(right, True), "": True}})
    said(estate, "p01.jpg", moss=True, **{estate.truth["p01.jpg"][0]: False})
    repeat(estate.project, estate.project.owner())
    with (estate.home / "bags.csv").open() as file:
        lists = {line["bag"]: line["labels"] for line in csv.DictReader(file)}
    assert lists["p00.jpg"] == "|".join(right)
    assert lists["p01.jpg"] == ""
    assert estate.project.progress()["n_new"] == 0
    assert estate.client.get(estate.api).json()["n_open"] == HIDDEN - 1
    export(str(estate.home), str(estate.place / "out"), "digikam")
    written = (estate.place / "out" / "p01.jpg.xmp").read_text()
    assert "moss" in written
    assert f">{estate.truth['p01.jpg'][0]}<" not in written


def test_a_project_without_lists_has_no_tags(running, tmp_path):
    server = running()
    assert server.client.get("/api/projects/1/tags").status_code == 422
    home = results_of(write_tables(tmp_path), "spectral", tmp_path)
    number = open_results(server.studio, str(home)).id
    assert "has no tags" in server.client.get(f"/api/projects/{number}/tags").json()["error"]
    assert f"/p/{number}/tags" not in server.client.get(f"/p/{number}").text


@pytest.mark.slow
def test_tags_are_confirmed_by_key_and_the_region_lights_up(chromium, estate):
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    other = chromium.new_page(viewport={"width": 390, "height": 844})
    try:
        for one in (page, other):
            one.goto(
                f"http://{estate.client.base_url.host}:{estate.client.base_url.port}/p/{estate.project.project.id}/tags"
            )
            one.wait_for_selector(".photograph .tag")
        page.keyboard.press("ArrowDown")
        page.wait_for_selector(".photograph:first-child .box.lit")
        label = page.locator(".tag.now .name").inner_text().split()[0]
        page.keyboard.press("y")
        page.wait_for_selector(".photograph:first-child .tag.there")
        other.wait_for_selector(".photograph:first-child .tag.there", timeout=10_000)  # by itself
        assert label in other.locator(".photograph:first-child .tag.there").inner_text()
        page.keyboard.press("Enter")
        page.wait_for_selector(".photograph:first-child.done")
        assert page.locator(".photograph:nth-child(2) .tag.now").count() == 1  # on to the next
        page.keyboard.press("t")
        page.keyboard.type("moss")
        page.keyboard.press("Enter")
        page.wait_for_selector('.photograph:nth-child(2) .tag.there:has-text("moss")')
        assert other.evaluate("document.documentElement.scrollWidth") <= 390
    finally:
        page.close()
        other.close()
