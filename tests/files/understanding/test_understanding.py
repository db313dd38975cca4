"""Files that no one here wrote are read right, or a question is asked: the score over all cases, and each case."""

from __future__ import annotations

import json
import shlex
import time

import numpy as np
import pytest
from click.testing import CliRunner
from tests.files.understanding.understanding_cases import CASES, judge, table

import sidelight as sl
from sidelight.app.cli.app import app
from sidelight.app.cli.job import command_line
from sidelight.app.cli.options import as_flag
from sidelight.app.jobs.describe import describe
from sidelight.app.jobs.reading import read_as_it_is
from sidelight.app.jobs.roles import Roles
from sidelight.words import render

MOST_WRONG = 0  # may only fall


def test_there_are_enough_files():
    assert len(CASES) >= 60


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_read_right_or_a_question_is_asked(tmp_path, name):
    verdict, why = judge(name, tmp_path)
    assert verdict != "wrong", why


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("gap ")])
def test_a_suggested_command_can_be_run_up_to_its_fit(tmp_path, name):
    path, expected = CASES[name](tmp_path)
    found = describe(str(path), Roles(**dict(expected.options)) if expected.options else None)
    assert len(found.fits) <= 3
    known = set(Roles.__struct_fields__)
    for fit in found.fits:
        roles = {key: value for key, value in fit.roles.items() if key in known}
        data = read_as_it_is(fit.table or str(path), Roles(**{**dict(expected.options), **roles}))
        assert data.n_rows
        if fit.job == "instances":
            assert data.candidates is not None or data.bags is not None
        elif fit.job != "hierarchy":
            assert data.n_features or data.counts is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zeros_and_ones_of_bags", "ja_and_nein_of_bags", "views_by_name", "lists_empty"])
def test_a_suggested_command_runs_to_its_end(tmp_path, name):
    """The four kinds whose suggestions once failed, or are the easiest to break; the benchmark runs those of all."""
    path, expected = CASES[name](tmp_path)
    for number, fit in enumerate(describe(str(path), Roles(**dict(expected.options))).fits):
        line = command_line(fit.job, str(path), fit.roles, n_clusters=fit.n_clusters)
        done = CliRunner().invoke(app, [*shlex.split(line)[1:-1], str(tmp_path / f"results{number}"), "-q"])
        assert done.exit_code == 0, (line, done.exception)


def test_a_folder_with_a_table_of_its_lists_suggests_naming_rows(tmp_path):
    from sidelight.app.jobs.samples import write_folder

    write_folder("letters", str(tmp_path / "letters"), seed=0)
    why, command = describe(str(tmp_path / "letters")).next[0]
    assert "topics.csv" in why
    assert render(command, as_flag).startswith("sidelight instances")
    (tmp_path / "letters" / "topics.csv").write_text("a,b\n1,2\n")
    assert "topics.csv name" not in describe(str(tmp_path / "letters")).next[0][0]


OUTCOME = "age,chol,bp,relapse5y\n" + "".join(
    f"{30 + i % 40},{150 + i * 7 % 90},{90 + i * 3 % 70},{i % 2}\n" for i in range(60)
)


def test_a_job_stops_at_a_weak_guess_and_yes_takes_the_first_reading(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(OUTCOME)
    with pytest.raises(sl.errors.Undecided, match="relapse5y") as stop:
        read_as_it_is(str(path), Roles())
    assert "label='relapse5y'" in str(stop.value)
    assert "label=False" in str(stop.value)
    assert "yes=True" in str(stop.value)
    assert read_as_it_is(str(path), Roles(yes=True)).columns("label") == ("relapse5y",)
    assert "relapse5y" in read_as_it_is(str(path), Roles(label=False)).feature_names
    assert not read_as_it_is(str(path), Roles(label="relapse5y")).doubts


def test_strengths_say_how_sure_a_role_is(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(OUTCOME)
    sure = {role.name: role.sure for role in sl.read(path).roles}
    assert sure["relapse5y"] < 0.6 <= sure["age"]
    assert {role.name: role.sure for role in sl.read(path, label="relapse5y").roles}["relapse5y"] == 1


def test_describe_goes_on_at_an_odd_cell_and_lists_it(tmp_path):
    path = tmp_path / "o.csv"
    path.write_text("a,b\n" + "".join(f"{i / 7:.2f},{i * 3}\n" for i in range(40)) + "zwölf,3\n")
    found = describe(str(path))
    assert found.facts["rows"] == 41
    assert any("zwölf" in warning and "line 42" in warning for warning in found.warnings)
    with pytest.raises(sl.errors.InvalidData, match="zwölf"):
        sl.read(path)


def test_a_missing_word_is_overruled(tmp_path):
    rows = [[f"{i * 1.5}", "-999" if i % 5 == 0 else f"{i}"] for i in range(40)]
    path = table(tmp_path, "g.csv", "a,b", rows)
    assert np.isnan(sl.read(path).X[:, 1]).sum() == 8
    assert not np.isnan(sl.read(path, missing_words=False).X).any()
    assert np.isnan(sl.read(path, missing_words=["1.5"]).X).sum() == 1
    assert any("'-999'" in note for note in sl.read(path).notes)


def test_a_folder_of_tables_and_pictures_gets_a_sentence(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "b.csv").write_text("a,b\n1,2\n")
    found = describe(str(tmp_path))
    assert "2 tables" in found.format
    assert all(line.startswith("sidelight describe") for _, line in found.next)


def test_an_empty_list_beside_others_suggests_novel_clusters(tmp_path):
    path, _ = CASES["lists_empty"](tmp_path)
    (fit,) = [fit for fit in describe(str(path)).fits if fit.job == "instances"]
    assert fit.roles["n_novel"] == "auto"
    assert fit.roles["empty"] == "none"


def test_events_are_counted_exactly_and_suggest_coclusters_first(tmp_path):
    path, _ = CASES["events_with_milliseconds"](tmp_path)
    found = describe(str(path))
    assert found.fits[0].job == "coclusters"
    lines = [line.split(",") for line in path.read_text().splitlines()[1:]]
    assert found.facts["axes"] == {"visitorid": len({u for u, *_ in lines}), "itemid": len({i for _, i, _ in lines})}


def test_a_small_file_is_described_quickly(tmp_path):
    path, _ = CASES["lists_plus"](tmp_path)
    describe(str(path))  # whatever is imported is imported now; benchmarks/bench_understanding.py counts it, too
    begin = time.process_time()
    describe(str(path))
    assert time.process_time() - begin < 0.7


def test_the_description_is_json(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(OUTCOME)
    content = json.loads(json.dumps(describe(str(path)).as_dict()))
    assert [reading["settings"] for reading in content["doubts"][0]["readings"]] == [
        {"label": "relapse5y"},
        {"label": False},
    ]


def test_a_sequence_is_no_bag_though_its_numbers_run(tmp_path):
    rows = [[i // 8, f"{i * 7 % 11}.5", f"{i * 5 % 13}.25"] for i in range(80)]
    data = sl.read(table(tmp_path, "s.csv", "session,a,b", rows))
    assert data.columns("sequence") == ("session",)
    assert data.bags is None


def test_corrections_to_a_kind_that_no_list_has_name_the_novel_cluster():
    from types import SimpleNamespace

    from sidelight.app.jobs.instances.naming import name_by_rows, name_clusters

    data = sl.Dataset(np.zeros((5, 1)), ("a",))
    model = SimpleNamespace(
        cluster_names_=("wren", "novel-1", "novel-2"), label_names_=("wren", "novel-1", "novel-2"),
        class_of_=np.array([0, -1, -1]), labels_=np.array([0, 1, 1, 2, 1]),
    )  # fmt: skip
    (told,) = name_by_rows(model, {1: "cuckoo", 2: "cuckoo", 0: "cuckoo"}, data)
    assert model.cluster_names_ == model.label_names_ == ("wren", "cuckoo", "novel-2")
    assert "2 of 3 rows" in told
    assert "1 is elsewhere" in told
    name_clusters(model, {"novel-2": "hoopoe"})
    assert model.label_names_ == ("wren", "cuckoo", "hoopoe")
    with pytest.raises(sl.errors.UnknownName, match="novel-9"):
        name_clusters(model, {"novel-9": "jay"})
