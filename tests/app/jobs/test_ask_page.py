"""The page of a conversation: what it says follows from the session."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sidelight as sl
from sidelight.app.jobs.ask.result import Progress
from sidelight.app.jobs.ask.work import result_of, share_unsure, write_result
from sidelight.app.jobs.page import page_of
from sidelight.data.dataset import Dataset

Y = np.arange(40) % 2
X = np.random.default_rng(0).normal(size=(40, 3)) + 4.0 * Y[:, None]


@pytest.fixture(scope="module")
def told():
    session = sl.ActiveSession(X, 2, random_state=0)
    rows = [(0, 2), (0, 4), (0, 6), (2, 4), (2, 6), (1, 3), (1, 5), (3, 5)]
    session.tell_all([*((pair, "same") for pair in rows), *(((0, other), "different") for other in (1, 3, 5, 7))])
    session.tell((0, 8), "unsure")
    session.tell((4, 6), "different")  # a slip: five answers say otherwise
    data = Dataset(X, ("a", "b", "c"), path="rows.csv")
    return session, result_of(data, session, Progress([5, 14], [0.5, share_unsure(session)], [0.2, 1.0]))


def test_questions_are_listed_with_whether_the_clusters_keep_them(told):
    _, result = told
    questions = result.tables["questions"]
    assert questions["question"] == list(range(1, 15))
    assert questions["kept"][-2:] == ["", "no"]
    assert questions["rows"][-1] == "5, 7"  # rows are named from 1 on
    assert result.n_broken == 1
    assert result.n_unsure == 1


def test_the_page_says_what_was_found_and_how_it_went(told):
    page = page_of(told[1])
    said = " ".join(map(str, page.told))
    assert "After 14 answers 40 rows lie in 2 clusters" in said
    assert "break 1 answer" in said
    assert "too few rows have answers to tell how right that is" in said
    assert "above 90%" not in said
    titles = [section.title for section in page.sections]
    assert titles[0] == "How it went"
    assert "The questions" in titles


def test_a_page_without_answers_has_no_curve():
    session = sl.ActiveSession(X, 2, random_state=0)
    result = result_of(Dataset(X, ("a", "b", "c"), path="rows.csv"), session, Progress([0], [1.0]))
    assert {"How it went", "The questions"}.isdisjoint(section.title for section in page_of(result).sections)


def test_files_of_a_conversation(told, tmp_path):
    session, result = told
    names = write_result(tmp_path, result, session, {"table": "rows.csv"})
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert len((tmp_path / "pairs.csv").read_text().splitlines()) == 1 + 13
    assert "<svg" in (tmp_path / "report.html").read_text()


def test_sure_rows_are_held_against_rows_with_answers(told):
    judged = replace(told[1], share_sure=0.5, n_judged=40, n_said=10, n_right=9)
    assert "Of 40 rows with answers, all others call 10 more than 90% sure of a cluster, and 9 of these lie where" in (
        " ".join(map(str, page_of(judged).told))
    )
