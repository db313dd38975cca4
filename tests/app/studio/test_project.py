"""A project and its rows: bounds of what is kept, corrections, names, what pages show, the map, the kept view."""

from __future__ import annotations

import base64
import json
import threading

import numpy as np
import pytest
from tests.app.studio.conftest import blobs, busy_model

from sidelight.app.report.gallery import Media
from sidelight.app.studio import rows as rows_module
from sidelight.app.studio.answers import true_answer
from sidelight.app.studio.learner import check_settings
from sidelight.app.studio.people import accuracy, agreement_of_all, agreement_table, people_table
from sidelight.app.studio.rows import cover_of, prepared, read_rows, write_rows
from sidelight.app.studio.seeing import (
    found_so_far,
    next_steps,
    overview_of,
    packed_map,
    people_sentence,
    row_with_neighbours,
)
from sidelight.app.studio.studio import Studio
from sidelight.errors import InvalidData, OutputExists, UnknownName, UnreadableFile


@pytest.fixture
def project(tmp_path):
    """Thirty rows of three classes that nobody was asked about yet."""
    studio = Studio(tmp_path / "studio")
    opened = studio.project(studio.add("blobs", blobs(30), {"strategy": "rows", "kind": "pair", "clusters": 3}).id)
    opened.model.snapshot()
    yield opened
    studio.close()


def tell(project, person, *pairs, word=None):
    for pair in pairs:
        project.answer(person, pair, word or true_answer(pair, project.rows.truth), seconds=1.0)
    project.model.snapshot()


PAIRS = [(0, 3), (1, 4), (2, 5), (0, 1), (0, 2), (1, 2)]


def test_only_times_that_can_be_are_believed(project):
    you = project.owner()
    for pair, seconds in [((0, 3), 0.0), ((1, 4), 3600.0), ((2, 5), -1.0), ((0, 6), 3601.0)]:
        project.answer(you, pair, "same", seconds=seconds)
    kept = [answer.seconds for answer in project.answers()]
    assert kept[:2] == [0.0, 3600.0]
    assert np.isnan(kept[2:]).all()


def test_notes_names_and_shares_have_bounds(project):
    you = project.owner()
    project.note(you, 3, f" {'x' * 2000} ")
    for text in ("", "  ", "x" * 2001):
        with pytest.raises(InvalidData):
            project.note(you, 3, text)
    assert [event.content for event in project.notes()] == [{"row": 3, "text": "x" * 2000}]
    tell(project, you, *PAIRS)
    project.name(you, 0, "x" * 2000)
    for name in ("x" * 2001, "a\nb"):
        with pytest.raises(InvalidData):
            project.name(you, 0, name)
    with pytest.raises(UnknownName):
        project.name(you, 99, "wren")
    for share in (0.0, 1.0):
        project.set_second_share(share)
        assert project.model.second_share == share
    for share in (-0.1, 1.1):
        with pytest.raises(InvalidData):
            project.set_second_share(share)


def test_only_questions_about_rows_that_are_there_are_put_off(project):
    you = project.owner()
    for rows in ((), (0, 1, 2, 3), (1, 1), (0, 30)):
        with pytest.raises(InvalidData):
            project.put_off(you, rows)
    project.put_off(you, (0, 29))
    assert [event.content["rows"] for event in project.events() if event.kind == "later"] == [[0, 29]]


def test_corrections_name_a_cluster_that_is_there(project):
    you = project.owner()
    tell(project, you, *PAIRS)
    n = int(project.model.snapshot().labels.max())
    for cluster in (-1, n + 1):
        with pytest.raises(InvalidData):
            project.correct(you, 6, cluster, is_member=True)
    with pytest.raises(InvalidData):
        project.correct(you, 30, 0, is_member=True)
    target = int(project.model.snapshot().labels[1])
    project.correct(you, 6, target, is_member=True)
    shown = project.model.snapshot()
    assert (shown.labels[6], shown.sure[6]) == (shown.labels[1], 1.0)
    assert project.confirmed() == {6}
    assert project.n_told == len(PAIRS) + 1
    project.correct(you, 9, int(shown.labels[9]), is_member=True, is_confirmation=True)
    assert project.n_told == len(PAIRS) + 1
    assert project.confirmed() == {6, 9}
    shown = project.model.snapshot()
    project.correct(you, 12, int(shown.labels[12]), is_member=False)
    after = project.model.snapshot()
    assert after.labels[12] != after.labels[15]


def test_names_stay_with_their_rows(project):
    you = project.owner()
    tell(project, you, *PAIRS)
    shown = project.model.snapshot()
    project.name(you, int(shown.labels[1]), "wren")
    names = project.names(shown.labels)
    assert names[shown.labels[1]] == "wren"
    assert sum(name.startswith("cluster ") for name in names) == len(names) - 1
    assert len(project.names(shown.labels, n_known=len(names) + 2)) == len(names) + 2
    members = project.members(int(shown.labels[1]))
    assert members == project.members(int(shown.labels[1]), doubtful_first=True)[::-1]
    assert set(members) == set(np.flatnonzero(shown.labels == shown.labels[1]).tolist())


def test_the_reference_sheet_has_the_row_nearest_to_the_mean_of_each_class_of_the_key(tmp_path):
    source = blobs(30)
    Z = prepared(source.X, source.features)
    studio = Studio(tmp_path)
    sheet = studio.project(studio.add("keyed", source, {}).id).rows.examples
    assert [name for name, _ in sheet] == ["k0", "k1", "k2"]
    for k, (_, row) in enumerate(sheet):
        members = np.arange(k, 30, 3)
        assert row == members[np.linalg.norm(Z[members] - Z[members].mean(axis=0), axis=1).argmin()]
    bare = studio.project(studio.add("bare", _bare(), {}).id)
    assert bare.rows.examples == []
    with pytest.raises(InvalidData):
        bare.simulate(1)
    bare.model.snapshot()
    assert bare.status()["agreement"] is None
    studio.close()


def _bare():
    source = blobs(30)
    return type(source)(source.X, source.ids, source.features, source.look)


def test_the_table_of_people_counts_what_each_said(project, monkeypatch):
    ann, bob = (project.store.add_person(project.project.id, name) for name in ("Ann", "Bob"))
    tell(project, ann, (0, 3), (1, 4), (0, 1))
    project.answer(ann, (5, 7), "unsure", seconds=4.0)
    project.answer(bob, (0, 3), "same")
    project.answer(bob, (0, 1), "same")
    project.set_aside(bob.id, True)
    project.model.snapshot()
    table = {line["name"]: line for line in people_table(project)}
    first, second = table["Ann"], table["Bob"]
    assert (first["answers"], first["unsure"], first["seconds"], first["accuracy"]) == (4, 1, 1.0, 1.0)
    assert (second["answers"], second["unsure"], second["seconds"], second["accuracy"]) == (2, 0, None, 0.5)
    assert (first["is_aside"], second["is_aside"]) == (False, True)
    assert first["alpha"] is second["alpha"] is agreement_of_all(project)["alpha"] is None  # two questions tell nothing
    assert agreement_table(project)[0]["kappa"] is None
    monkeypatch.setattr("sidelight.app.studio.people.FAIR_SAMPLE", 2)
    assert agreement_of_all(project)["alpha"] == 0.0
    assert {line["alpha"] for line in people_table(project) if line["answers"]} == {0.0}
    assert agreement_of_all(project)["questions"] == 2
    (line,) = agreement_table(project)
    assert {line["first"], line["second"]} == {"Ann", "Bob"}
    assert (line["questions"], line["share"]) == (2, 0.5)
    project.set_aside(bob.id, False)
    assert project.aside == set()
    with pytest.raises(UnknownName):
        project.set_aside(99, True)
    assert accuracy(project.answers(), None) is None
    assert accuracy([], project.rows.truth) is None


def test_the_overview_says_what_to_do_next(project):
    you = project.owner()
    before = overview_of(project, project.status(fresh=True))
    assert [step["words"] for step in before["steps"]] == ["Answer questions"]
    assert (before["run"], before["people"]) == (None, "")
    tell(project, you, *PAIRS)
    project.answer(you, (3, 4), "same")
    project.answer(you, (3, 1), "different")
    shown = project.model.snapshot()
    status = project.status(fresh=True)
    found = found_so_far(project, shown)
    assert sum(cluster["n"] if "n" in cluster else cluster["size"] for cluster in found) == 30
    assert all(len(cluster["cards"]) <= 6 for cluster in found)
    steps = next_steps(project, shown, found, status | {"enough": True})
    words = [step["words"] for step in steps]
    assert words[0] == "2 contradictions to settle"  # 3 and 4, 3 and 1
    assert any(word.startswith("Name cluster") for word in words)
    assert words[-1].startswith("Look through")
    assert people_sentence(project) == "1 person answered so far."
    assert overview_of(project, {"ready": False})["found"] == []


def unpacked(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def test_the_map_holds_every_row_and_who_spoke_of_it(project):
    ann = project.store.add_person(project.project.id, "Ann")
    tell(project, ann, (0, 3))
    shown, points = project.model.snapshot(), project.coordinates
    packed = packed_map(project)
    assert packed["n"] == sum(packed["sizes"]) == 30
    assert unpacked(packed["k"], "<u2").tolist() == shown.labels.tolist()
    assert unpacked(packed["x"], "<u2").argmax() == points[:, 0].argmax()
    assert unpacked(packed["y"], "<u2").argmax() == points[:, 1].argmin()
    assert {unpacked(packed["x"], "<u2").min(), unpacked(packed["x"], "<u2").max()} == {0, 65_535}
    who = unpacked(packed["who"], "<u2")
    assert set(np.flatnonzero(who)) == {0, 3}
    assert packed["people"][who[0] - 1] == "Ann"


def test_a_row_is_shown_with_the_rows_nearest_to_it(project):
    project.note(project.owner(), 4, "odd")
    project.note(project.owner(), 5, "other")
    found = row_with_neighbours(project, 4)
    squares = ((project.rows.Z - project.rows.Z[4]) ** 2).sum(axis=1)
    assert found["row"]["row"] == 4
    assert [card["row"] for card in found["near"]] == np.argsort(squares)[1:9].tolist()
    assert found["notes"] == ["odd"]
    with pytest.raises(InvalidData):
        row_with_neighbours(project, 30)


@pytest.mark.parametrize(
    ("settings", "is_fine"),
    [
        ({"strategy": "rows", "kind": "pair"}, True),
        ({"strategy": "guess", "kind": "pair"}, False),
        ({"strategy": "rows", "kind": "label"}, False),
        ({"strategy": "info", "kind": "pair"}, False),
        ({"strategy": "uncertain", "kind": "pair"}, False),
        ({"strategy": "info", "kind": "pair", "clusters": 2}, True),
        ({"strategy": "fixed", "kind": "pair"}, False),
        ({"strategy": "fixed", "kind": "pair", "questions": [[0, 1]]}, True),
        ({"strategy": "rows", "kind": "pair", "clusters": 10}, True),
        ({"strategy": "rows", "kind": "pair", "clusters": 11}, False),
        ({"strategy": "rows", "kind": "pair", "clusters": 1}, False),
        ({"strategy": "rows", "kind": "pair", "clusters": 0}, False),
    ],
)
def test_settings_make_sense_or_are_refused(settings, is_fine):
    if is_fine:
        check_settings(settings, 10)
        return
    with pytest.raises(InvalidData):
        check_settings(settings, 10)


def picture(kind="png"):
    return f"data:image/{kind};base64,{base64.b64encode(b'0123').decode()}"


def test_rows_are_written_whole_and_read_again(tmp_path, monkeypatch):
    shown = [Media("image", picture(), large=picture("jpeg"), is_tiny=True), Media("text", text="words"), None]
    cover = write_rows(tmp_path / "rows", np.eye(3), "abc", ["x", "y", "z"], shown.__getitem__, [1, 2, 1])
    rows = read_rows(tmp_path / "rows")
    assert (rows.ids, rows.features, rows.kinds) == (("a", "b", "c"), ("x", "y", "z"), ("image", "text", "values"))
    assert (rows.texts, rows.tiny, rows.y) == (("", "words", ""), (True, False, False), ("1", "2", "1"))
    assert rows.truth.tolist() == [0, 1, 0]
    assert cover == {"rows": 3, "pictures": ["0.png"], "is_tiny": True, "texts": ["words"]}
    path, kind = rows.file(0, "media")
    assert (path.read_bytes(), kind) == (b"0123", "image/png")
    assert rows.file(0, "large")[1] == "image/jpeg"
    for row, part in ((0, "spectrogram"), (1, "media"), (3, "media"), (-1, "media")):
        with pytest.raises(InvalidData):
            rows.file(row, part)
    assert rows.media(2, lambda *_: "") is None
    assert rows.media(0, lambda row, part: f"/{row}/{part}").uri == "/0/media"
    with pytest.raises(OutputExists):
        write_rows(tmp_path / "rows", np.eye(3), "abc", "xyz", shown.__getitem__)
    monkeypatch.setattr(rows_module, "MOST_ROWS", 3)
    write_rows(tmp_path / "most", np.eye(3), "abc", "xyz", lambda row: None)
    for n in (1, 4):
        with pytest.raises(InvalidData):
            write_rows(tmp_path / "other", np.eye(n), "abcd"[:n], "wxyz"[:n], lambda row: None)
    about = json.loads((tmp_path / "rows" / "rows.json").read_text())
    about["files"][0][0] = "../secret.png"
    (tmp_path / "rows" / "rows.json").write_text(json.dumps(about))
    with pytest.raises(UnreadableFile):
        read_rows(tmp_path / "rows")


def test_a_card_shows_rows_from_all_over_the_project():
    n = 9
    files = [(f"{i}.png", f"{i}-s.png", "") for i in range(n)]
    found = cover_of(["image"] * n, [""] * n, [i == 8 for i in range(n)], files)
    assert found == {"rows": 9, "pictures": ["0.png", "2.png", "4.png", "6.png"], "is_tiny": False, "texts": []}
    sounds = cover_of(["sound"] * 4, [""] * 4, [False] * 4, files[:4])
    assert sounds["pictures"] == ["0-s.png", "1-s.png", "2-s.png", "3-s.png"]
    texts = cover_of(["text"] * 4, ["x" * 99, "", "b", "c"], [False] * 4, [("", "", "")] * 4)
    assert texts["texts"] == ["x" * 80, "b"]


def test_small_charts_show_what_sets_rows_apart(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 12))
    write_rows(tmp_path / "rows", X, [str(i) for i in range(20)], [f"f{j}" for j in range(12)], lambda row: None)
    rows = read_rows(tmp_path / "rows")
    Z = rows.charted
    apart = sorted(np.argsort(-np.abs(Z[3] - Z[7]))[:8].tolist())
    first, second = rows.profiles((3, 7))
    assert list(first.features) == [f"f{j}" for j in apart]
    assert np.allclose(first.row, Z[3, apart])
    assert np.allclose(second.row, Z[7, apart])
    assert rows.profiles(()) == []


def test_nothing_that_people_do_waits_for_the_learner(project):
    """A correction took the learner's lock, which a learner at work takes again and again: it never came back."""
    you = project.owner()
    tell(project, you, *PAIRS)
    labels = project.model.snapshot().labels
    target = int(labels[1])
    doing = {
        "an answer": lambda: project.answer(you, (3, 7), "different", seconds=1.0),
        "a correction": lambda: project.correct(you, 6, target, is_member=True),
        "a strike": lambda: project.correct(you, 7, int(labels[7]), is_member=False),
        "a name": lambda: project.name(you, target, "wren"),
        "rows together": lambda: project.keep_all(
            you, project.together(you, [9, 12], "owl", project.model.snapshot(fresh=False))
        ),
        "an undo": lambda: project.undo(you),
        "an edit": lambda: project.edit(you, project.answers()[0].id, "different"),
        "somebody set aside": lambda: project.set_aside(you.id, True),
        "a look": lambda: project.status(),
    }
    with busy_model(project):
        project.model.changed()
        for what, do in doing.items():
            thread = threading.Thread(target=do, daemon=True)
            thread.start()
            thread.join(timeout=5.0)
            assert not thread.is_alive(), f"{what} waits for the learner"
    assert {7, 6} <= project.confirmed()
