"""A study from start to analysis, by a participant and by 24 simulated ones."""

from __future__ import annotations

import csv
from types import SimpleNamespace

import httpx
import numpy as np
import pytest
from tests.app.studio.conftest import blobs, serve, until
from tests.app.studio.test_web import PNG, Client

from sidelight.app.report.gallery import Media
from sidelight.app.studio.sources import Source
from sidelight.app.studio.studio import Studio, cards_of
from sidelight.app.studio.web.security import Access
from sidelight.errors import SidelightError, UnknownName
from study import analysis as study_analysis
from study.design import margins, tasks_of
from study.run import arguments, prepared
from study.study import Studies
from study.web import app_of


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The studies of a folder that holds a project too, served: one small, one of the thesis' size."""
    studies = Studies(tmp_path_factory.mktemp("study"))
    studies.add("blobs", blobs(30), {})
    server, thread, port, listening = serve(studies, app_of=app_of)
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"X-Sidelight": "1"}, timeout=30)
    for name, pairs, triplets in (("small", 6, 6), ("thesis", 195, 130)):
        made = client.post("/api/studies", json={"name": name, "pairs": pairs, "triplets": triplets})
        assert made.status_code == 200, made.text
    yield SimpleNamespace(studio=studies, client=client, url=f"http://127.0.0.1:{port}")
    client.close()
    server.should_exit = True
    thread.join(timeout=10)
    studies.close()
    listening.close()


@pytest.mark.slow
def test_a_participant_goes_from_introduction_to_thanks(local):
    study = local.studio.study(2)
    link = local.client.post("/api/studies/2/participants", json={"name": "Ann"}).json()["link"]
    assert "Welcome" in local.client.get(link).text
    assert local.client.post(f"/api{link}/answers", json={"rows": [0, 1], "answer": "same"}).status_code == 422
    shown = local.client.post(f"/api{link}/begin", json={}).json()
    seen, parts = 0, []
    while not shown.get("go"):
        question = shown["questions"][0]
        assert "unsure" not in question["words"]
        if shown["part"] not in parts:
            parts.append(shown["part"])
            assert "Reference sheet" in local.client.get(link).text
        refused = local.client.post(f"/api{link}/answers", json={"rows": question["rows"], "answer": "unsure"})
        assert refused.status_code == 422
        word = question["words"][0]
        shown = local.client.post(
            f"/api{link}/answers", json={"rows": question["rows"], "answer": word, "seconds": 2}
        ).json()
        seen += 1
    assert seen == 6 + 4 * 6
    assert len(parts) == 2 + 4
    assert "fieldset" in local.client.get(link).text
    survey = dict.fromkeys(("performance", "effort_query", "effort_all", "frustration", "preference"), "pair")
    assert local.client.post(f"/api{link}/questionnaire", json=survey | {"preference": "both"}).status_code == 422
    done = local.client.post(f"/api{link}/questionnaire", json=survey | {"comment": "<b>easy</b>"})
    assert done.status_code == 200
    assert "Thank you" in local.client.get(link).text
    page = local.client.get("/studies/2/analysis").text
    assert "&lt;b&gt;easy" in page
    assert "simulated" not in page
    answers = [event for event in study.events() if event.kind == "study answer"]
    assert {event.seconds for event in answers} == {2.0}


@pytest.mark.slow
def test_24_simulated_participants_give_the_tables_of_the_thesis(local):
    assert local.client.post("/api/studies/3/simulate", json={"n": 24}).json()["added"] == 24
    found = local.client.get("/api/studies/3/analysis").json()
    assert (found["participants"], found["simulated"]) == (24, 24)
    flower, birdsong = found["times"]
    assert flower["pair all"][0] == pytest.approx(2.10, rel=0.2)  # table 3.6; people differ in pace by a third
    assert birdsong["triplet all"][0] == pytest.approx(6.19, rel=0.2)
    assert birdsong["pair same"][0] > birdsong["pair different"][0]
    confusion = found["confusions"][0]["pair"]
    assert confusion["words"] == ["different", "same"]
    assert np.sum(confusion["table"]) == pytest.approx(195)
    assert np.sum(found["confusions"][1]["triplet"]["table"]) == pytest.approx(130)
    assert confusion["accuracy"] == pytest.approx(0.966, abs=0.03)  # table 3.9: 96.65 %
    assert found["confusions"][1]["triplet"]["accuracy"] == pytest.approx(0.827, abs=0.04)  # table 3.8: 82.68 %
    assert all(line["pair"] + line["triplet"] + line["none"] == 24 for line in found["survey"])
    counts = found["counts"][0]
    assert counts["rows P all"] == [39, 78, 117, 156, 195]
    assert counts["rows R all"] == [26, 52, 78, 104, 130]
    assert counts["time P all"][-1] > counts["time R all"][-1]  # pairs are quicker, so the same time holds more
    for path in ("/studies/3", "/studies/3/analysis"):
        assert "simulated" in local.client.get(path).text


def test_everybody_has_all_treatments_in_another_order_and_as_many_difficult_questions(local):
    study = local.studio.study(3)
    plans = [tasks_of(study.sets, study.counts, study.seed, number) for number in range(6)]
    orders = {tuple((task.set, task.kind) for task in plan) for plan in plans}
    assert len(orders) > 1
    assert all(len(set(order)) == 4 for order in orders)
    for plan in plans:
        assert {(task.kind, len(task.questions), sum(task.difficult)) for task in plan} == {
            ("pair", 195, 65),
            ("triplet", 130, 43),
        }
    again = tasks_of(study.sets, study.counts, study.seed, 3)
    assert again == plans[3]


@pytest.mark.slow
def test_clusterings_by_the_answers_are_kept(local, monkeypatch):
    monkeypatch.setattr(study_analysis, "STEPS", (1.0,))  # a fifth of the fits
    number = local.client.post("/api/studies", json={"name": "clustered", "pairs": 6, "triplets": 6}).json()["id"]
    local.client.post(f"/api/studies/{number}/simulate", json={"n": 1})
    done = local.client.post(f"/api/studies/{number}/clusterings", json={"participants": 1}, timeout=120)
    assert done.status_code == 200
    kept = local.client.get(f"/api/studies/{number}/analysis").json()["clusterings"]
    assert kept["participants"] == 1
    assert all(0 <= value <= 1 for of_set in kept["sets"] for value in of_set["rows P"]["mean"])


def test_a_project_is_no_study_and_a_study_no_project(local):
    assert local.client.get("/studies/1").status_code == 404
    assert local.client.get("/p/2").status_code == 404
    assert local.client.get("/").headers["location"].startswith("/studies/")


def test_a_studio_with_a_study_of_before_opens_shows_it_and_says_where_it_went(tmp_path):
    """Up to 0.2.0 studies lay among projects."""
    studies = Studies(tmp_path)
    number = studies.add_study("pairs or triplets?", {"pair": 6, "triplet": 6}).id
    studies.study(number).simulate(1)
    studies.close()
    studio = Studio(tmp_path)
    made = studio.project(studio.add("blobs", blobs(30), {}).id)
    assert made.status()["rows"] == 30
    card = next(card for card in cards_of(studio) if card["id"] == number)
    assert (card["kind"], card["people"], card["name"]) == ("study", 1, "pairs or triplets?")
    with pytest.raises(UnknownName, match=r"benchmarks/study/run\.py"):
        studio.project(number)
    kept = studio.delete(number)
    assert (kept / "events.jsonl").read_text().count("study answer") == 24
    studio.close()


@pytest.fixture
def tables(tmp_path):
    """Two tables with labels, and a list of pairs of the first with how difficult each is."""
    rng = np.random.default_rng(0)
    for name in ("birds", "frogs"):
        with open(tmp_path / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "x", "z", "class"])
            writer.writerows([f"{name} {i}", *rng.normal(size=2) + 4 * (i % 2), "ab"[i % 2]] for i in range(30))
    return tmp_path


def _listed(tables, levels):
    with open(tables / "pairs.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["left", "right", "difficulty"])
        writer.writerows([f"birds {i}", f"birds {i + 2}", level] for i, level in enumerate(levels))
    return ["--questions", "1", "pair", str(tables / "pairs.csv")]


def _study(tables, *words):
    files = [str(tables / "birds.csv"), str(tables / "frogs.csv")]
    options = ["--folder", str(tables / "studio"), "--pairs", "9", "--triplets", "6"]
    studies, number = prepared(arguments([*files, *options, *words]))
    return studies, studies.study(number)


@pytest.mark.parametrize("levels", [["difficult"] * 4 + ["easy"] * 8, [9, 8, 7, 6, 0, 1, 2, 3, 0, 1, 2, 3]])
def test_a_study_of_two_tables_asks_the_questions_that_were_brought(tables, levels):
    studio, study = _study(tables, *_listed(tables, levels))
    assert study.project.name == "birds and frogs"
    plan = tasks_of(study.sets, study.counts, study.seed, 1, study._pools)
    brought = next(task for task in plan if (task.set, task.kind) == (0, "pair"))
    assert all(b == a + 2 for a, b in brought.questions)
    assert [a < 4 for a, _ in brought.questions] == list(brought.difficult)
    assert sum(brought.difficult) == 3
    assert study.tasks(study.store.add_person(study.project.id, "Ann"))
    assert study.simulate(1) == 1
    studio.close()


def test_without_a_column_of_difficulty_the_margin_decides(tables):
    listed = _listed(tables, [""] * 12)
    text = (tables / "pairs.csv").read_text().replace(",difficulty", ",note")
    (tables / "pairs.csv").write_text(text)
    studio, study = _study(tables, *listed)
    (pool,) = study._pools.values()
    studio.close()
    margin = margins(study.sets[0].Z, study.sets[0].truth)[pool.questions].min(axis=1)
    assert 3 <= pool.difficult.sum() <= 6
    assert margin[pool.difficult].max() < margin[~pool.difficult].min()


@pytest.mark.parametrize(
    ("words", "levels", "message"),
    [
        ([], ["easy", "hard"] * 6, "easy or difficult in every row"),
        ([], ["easy"] * 5, "has 5 questions; the study asks 9"),
        (["--label", "none"], ["easy"] * 12, "knows the right answers"),
        (["--triplets", "1000"], ["easy"] * 12, "too few to draw 1000 questions"),
    ],
)
def test_a_study_that_cannot_be_is_one_message(tables, words, levels, message):
    with pytest.raises(SidelightError, match=message):
        _study(tables, *_listed(tables, levels), *words)
    assert not (tables / "studio" / "projects").exists()


def test_a_word_that_is_no_difficulty_is_named(tables):
    with pytest.raises(SidelightError, match="Got 'harder'"):
        _study(tables, *_listed(tables, ["easy", "difficult", "harder"] * 4))


def test_clear_answers_alone_are_those_that_name_an_odd_one():
    from study.analysis import _part

    events = [SimpleNamespace(content={"answer": word}, seconds=1.0) for word in ("a", "none", "b", "none")]
    answers = {(1, 0, "triplet"): events, (1, 0, "pair"): events[:2]}

    def words(method, setting):
        return [event.content["answer"] for event in _part(answers, 1, 0, method, setting, 1.0)]

    assert words("R", "rows") == ["a", "none", "b", "none"]
    assert words("R-C", "rows") == ["a", "b"]
    assert words("R", "time") == ["a", "none"]  # as long as the pairs took


@pytest.fixture
def study(tmp_path):
    """A small study of two sets with pictures, beside a project."""
    studies = Studies(tmp_path / "pictures")
    source = blobs(70)
    shown = Source(source.X, [f"r{i}" for i in range(70)], source.features, lambda row: Media("image", PNG), source.y)
    studies.add("first", shown, {})
    number = studies.add_study("study", {"pair": 6, "triplet": 6}, sets=[("a", shown), ("b", shown)]).id
    yield studies.study(number), studies
    studies.close()


def test_pictures_of_a_study_are_for_its_participants_and_for_nobody_else(study):
    _, studies = study
    participant, other = studies.add_person(2, "Cyd"), studies.add_person(1, "Dee")
    client = Client(app_of(studies, Access("secret")), {"X-Sidelight": "1"})

    def seen(path, token):
        return client.get(path, cookie=f"sidelight_person_2={token}").status_code

    assert seen("/study-media/2/0/0/media", participant.token) == 200
    assert seen("/study-media/2/0/0/media", other.token) == 404
    assert seen("/study-media/2/1/0/media", participant.token) == 200
    assert seen("/study-media/2/2/0/media", participant.token) == 404
    assert seen("/studies/2", participant.token) == 401  # of the owner
    owner = client.get("/study-media/2/0/0/media", authorization="Bearer secret")
    assert "immutable" in owner.headers["cache-control"]


def test_a_study_lists_its_participants_and_who_is_done(study):
    opened, studies = study
    client = Client(app_of(studies), {"X-Sidelight": "1"})
    assert client.get("/studies/2/analysis").headers["location"] == "/studies/2"
    link = client.post("/api/studies/2/participants", {"name": "Ann"}).json()["link"]
    listed = client.get("/api/studies/2").json()
    assert listed == {
        "participants": [{"name": "Ann", "is_simulated": False, "link": link, "is_done": False}], "simulated": False
    }  # fmt: skip
    assert client.post("/api/studies/2/simulate", {"n": 1}).json() == {"added": 1, "go": "/studies/2/analysis"}
    listed = client.get("/api/studies/2").json()
    assert listed["simulated"]
    assert [one["is_done"] for one in listed["participants"]] == [False, True]
    assert client.get("/studies/2/analysis").status_code == 200
    shown = client.post(f"/api{link}/begin").json()
    rows = shown["questions"][0]["rows"]
    client.post(f"/api{link}/answers", {"rows": rows, "answer": "same", "seconds": 9999})
    assert opened.events()[-1].seconds == 3600.0
    assert f"sidelight_person_2={link[3:]}" in client.get(link).headers["set-cookie"]


def test_simulated_people_answer_the_questionnaire_as_those_of_the_thesis(study):
    study, _ = study
    study.simulate(40)
    found = [event.content["performance"] for event in study.events() if event.kind == "questionnaire"]
    shares = {word: found.count(word) / 40 for word in ("pair", "triplet", "none")}  # [P17] table 3.7: 16, 6, 2 of 24
    assert shares["pair"] > 0.5 > shares["triplet"] > 0.1 > 0.0
    assert shares["none"] < 0.25


@pytest.fixture
def visit(chromium, local):
    """Open a page; afterwards no script failed."""
    context, trouble = chromium.new_context(), []

    def open_page(path):
        page = context.new_page()
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto(local.url + path)
        return page

    yield open_page
    context.close()
    assert trouble == []


@pytest.mark.slow
def test_a_study_from_the_introduction_to_the_analysis(visit, local):
    number = local.client.post("/api/studies", json={"name": "by keys", "pairs": 6, "triplets": 6}).json()["id"]
    link = local.client.post(f"/api/studies/{number}/participants", json={"name": "Ann"}).json()["link"]
    page = visit(link)
    page.get_by_role("button", name="Begin").click()
    for _ in range(80):
        until(page, lambda: page.locator("#question figcaption").count() or page.locator("fieldset").count())
        if page.locator("fieldset").count():
            break
        page.keyboard.press("d" if page.locator("[data-answer=same]").count() else "n")
        page.wait_for_timeout(60)
        assert page.locator("#message").inner_text() == ""  # nothing went wrong
    for fieldset in page.locator("fieldset").all():
        fieldset.locator("input").first.check()
    page.get_by_role("button", name="Finish").click()
    page.get_by_role("heading", name="Thank you").wait_for()
    events = local.studio.study(number).events()
    assert sum(event.kind == "study answer" for event in events) == 24
    shown = visit(f"/studies/{number}/analysis")
    assert shown.locator("#t36 tbody tr").count() == 2
    assert "1/1" in shown.locator("#t37").inner_text()
