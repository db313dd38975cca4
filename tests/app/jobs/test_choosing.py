"""The number of clusters without labels: what was put in comes out, and the curve is written."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from tests.examples import but_slow

import sidelight as sl
from sidelight.app.jobs.coclusters.how_many import most_telling
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.relations import work as answers
from sidelight.app.jobs.run import run
from sidelight.app.jobs.samples import write_sample
from sidelight.app.jobs.sources.how_many import above_chance, agreed_number, number_by_channels
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.data.synth.sources import make_sources
from sidelight.errors import InvalidData
from sidelight.estimators._how_many import clearest_number


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("k", but_slow([2, 3, 5, 8], 2, 5))
def test_as_many_as_there_are_blobs(k):
    X, _ = make_blobs(600, n_features=5, centers=k, random_state=k)
    assert clearest_number(standardised(X), np.random.default_rng(0)).chosen == k


@pytest.mark.parametrize(("load", "k"), [(load_wine, 3), (load_breast_cancer, 2), (load_iris, 2)])
def test_real_rows(load, k):
    """Two of the three species of iris are one cluster: a finding, not a hope."""
    assert clearest_number(standardised(load().data), np.random.default_rng(0)).chosen == k


@pytest.mark.parametrize("n_rows", [1, 2, 3, 7])
def test_a_few_rows_are_no_trouble(n_rows):
    assert clearest_number(np.random.default_rng(0).normal(size=(n_rows, 3)), np.random.default_rng(0)).chosen <= 2


@pytest.mark.parametrize(("n_people", "seed"), but_slow([(2, 0), (3, 0), (3, 1), (3, 2), (5, 0), (7, 0)], (3, 0)))
def test_as_many_groups_of_sequences_as_people(n_people, seed):
    seen = make_sources(n_people, n_points=400 * n_people, random_state=seed)
    parts = [standardised(X) / np.sqrt(X.shape[1]) for X in seen.channels.values()]
    found = above_chance(parts, seen.sequences, np.random.default_rng(0))
    assert (found.chosen, found.is_clear) == (n_people, True)


def test_sequences_that_have_nothing_in_common_are_said_to_be_unclear():
    rng = np.random.default_rng(0)
    found = above_chance([rng.normal(size=(600, 4))], np.arange(600) % 30, rng)
    assert not found.is_clear


@pytest.mark.slow
@pytest.mark.parametrize("n_people", [3, 5, 8])
def test_as_many_clusters_as_channels_agree_on(n_people):
    """Days are clearer than people in the rows; days differ from channel to channel, people do not."""
    seen = make_sources(n_people, n_sequences=5 * n_people, n_points=1000, random_state=2)
    parts = [np.asarray(X).reshape(1000, -1) for X in seen.channels.values()]
    assert number_by_channels(parts, 0, np.random.default_rng(0)).chosen == n_people
    assert clearest_number(np.hstack([standardised(X) for X in parts]), np.random.default_rng(0)).chosen > n_people


@pytest.mark.slow
def test_the_rows_are_asked_where_channels_agree_on_nothing():
    rng = np.random.default_rng(0)
    blobs, _ = make_blobs(300, n_features=5, centers=4, random_state=0)
    noise = rng.normal(size=(300, 3))
    assert agreed_number([standardised(blobs), noise], rng) is None
    assert number_by_channels([blobs, noise], 0, rng).by == "rows"


@pytest.mark.parametrize("gap", ["a channel of some rows", "no row has both"])
def test_channels_are_compared_on_the_rows_that_have_them_all(gap):
    rng = np.random.default_rng(0)
    kinds = rng.integers(5, size=400)
    parts = [6 * rng.normal(size=(5, 4))[kinds] + rng.normal(size=(400, 4)) for _ in range(2)]
    parts[0][::2] = np.nan
    if gap == "no row has both":
        parts[1][1::2] = np.nan
    found = number_by_channels(parts, 0, rng)
    assert (found.chosen, found.by) == ((5, "channels") if gap == "a channel of some rows" else (found.chosen, "rows"))


@pytest.mark.slow
@pytest.mark.parametrize("groups", [(2, 3), (4, 3), (5, 5)])
def test_as_many_groups_of_counts_as_there_are(groups):
    rng = np.random.default_rng(1)
    rates = rng.permuted(np.linspace(0.2, 6.0, groups[0] * groups[1])).reshape(groups)
    counts = rng.poisson(rates[np.arange(60) % groups[0]][:, np.arange(40) % groups[1]])
    found = most_telling(CoOccurrence.from_matrix(counts), rng)
    assert tuple(axis.chosen for axis in found) == groups
    assert all(axis.is_clear for axis in found)


@pytest.mark.slow
def test_counts_without_structure_are_said_to_be_unclear():
    rng = np.random.default_rng(0)
    found = most_telling(CoOccurrence.from_matrix(rng.poisson(3.0, size=(30, 20))), rng)
    assert [axis.chosen for axis in found] == [2, 2]
    assert not any(axis.is_clear for axis in found)


def test_counts_of_which_no_half_shows_the_same_take_one_cluster():
    found = most_telling(CoOccurrence.from_matrix(np.eye(5)), np.random.default_rng(0))
    assert [(axis.chosen, axis.is_clear) for axis in found] == [(1, False), (1, False)]


def test_fractions_are_no_counts():
    table = CoOccurrence.from_matrix(np.random.default_rng(0).random((6, 5)))
    with pytest.raises(InvalidData, match="fractions"):
        most_telling(table, np.random.default_rng(0))


CHANNELS = {name: [f"{name}*"] for name in ("face", "upper", "lower", "height")}


@pytest.mark.slow
@pytest.mark.parametrize(("n_topics", "seed"), [(3, 0), (3, 2), (5, 1)])
def test_words_that_come_in_bursts_do_not_ask_for_ever_more_clusters(n_topics, seed):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(300, 0.08), size=n_topics)
    own = [rng.dirichlet(20 * (0.8 * topics[k] + 0.2 / 300) + 1e-3) for k in np.arange(200) % n_topics]
    table = CoOccurrence.from_matrix(np.stack([rng.multinomial(120, words) for words in own]))
    documents, _ = most_telling(table, np.random.default_rng(0))
    assert documents.chosen == n_topics
    assert documents.by == "rows"


OWN = {"people": ("sources", {"channels": CHANNELS, "ignore": ["label"]}, [3]), "visits": ("coclusters", {}, [4, 3])}


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_our_own_samples_have_as_many_clusters_as_were_put_in(name, tmp_path):
    job, roles, truth = OWN[name]
    write_sample(name, str(tmp_path / "t.csv"))
    result = run(RunConfig(job, str(tmp_path / "t.csv"), roles, {"curve": [2, 3]}), tmp_path / "out").result
    assert [choice.chosen for choice in result.n_clusters_choice] == truth
    assert result.n_clusters_choice[0].seeds_agree > 0.9  # of two further seeds


def test_a_run_chooses_and_shows_the_curve(tmp_path):
    X, _ = make_blobs(150, n_features=3, centers=3, random_state=1)
    (tmp_path / "t.csv").write_text("a,b,c\n" + "\n".join(",".join(f"{v:.4f}" for v in row) for row in X) + "\n")
    outcome = run(RunConfig("relations", str(tmp_path / "t.csv")), tmp_path / "out")
    (choice,) = outcome.result.numbers()["n_clusters_choice"]
    assert (choice["chosen"], choice["is_clear"], choice["seeds_agree"]) == (3, True, 1.0)
    assert any("3 clusters were chosen" in sentence for sentence in outcome.sentences)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "relative gap of eigenvalues" in page
    assert "two other seeds" in page
    lines = (tmp_path / "out" / "stability.csv").read_text().splitlines()
    assert lines[0] == "clusters,relative_gap,standard_error,chosen"
    assert lines[2].startswith("3,0.7")
    assert lines[2].endswith(",1")


def test_a_page_says_when_no_number_comes_back_well(tmp_path):
    X = np.random.default_rng(0).random((120, 6))
    (tmp_path / "t.csv").write_text("a,b,c,d,e,f\n" + "\n".join(",".join(f"{v:.4f}" for v in row) for row in X) + "\n")
    outcome = run(RunConfig("relations", str(tmp_path / "t.csv")), tmp_path / "out")
    assert not outcome.result.n_clusters_choice[0].is_clear
    told = (tmp_path / "out" / "report.html").read_text()
    assert "No number of clusters comes back well" in told
    assert "each half of them confirms" not in told  # which would say the opposite


@pytest.mark.slow
def test_answers_find_the_number_of_classes_that_touch(monkeypatch):
    monkeypatch.setattr(answers, "_MOST_CLUSTERS", 6)  # fewer fits
    generator = np.random.default_rng(5)
    y = generator.integers(4, size=120)
    X = 1.2 * generator.normal(size=(4, 6))[y] + generator.normal(size=(120, 6))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    pairs = sl.Pairs.sample(y, 150, noise=0.1, random_state=0)
    found = answers.held_out(Z, {"pairs": pairs}, 0)
    assert found.chosen == 4
    assert found.by == "answers"
    assert found.scores[found.tried.index(4)] >= max(found.scores) - max(found.errors)
    assert clearest_number(Z, np.random.default_rng(0)).chosen < 4  # the rows see fewer
    assert answers.held_out(Z, {"pairs": sl.Pairs.sample(y, 49, random_state=0)}, 0) is None


@pytest.mark.slow
def test_many_kinds_are_found_and_not_two():
    rng = np.random.default_rng(7)
    kinds = np.repeat(np.arange(15), 40)
    X = rng.normal(scale=2.5, size=(15, 10))[kinds] + rng.normal(size=(600, 10))
    found = clearest_number(standardised(X), np.random.default_rng(0))
    assert found.is_clear
    assert abs(found.chosen - 15) <= 1


@pytest.mark.slow
def test_a_number_that_leaves_clusters_empty_is_not_said_to_be_chosen(data_dir, tmp_path):
    roles = {"label": "sex", "ignore": ["sp", "index"]}
    outcome = run(RunConfig("relations", str(data_dir / "uci" / "crabs.csv"), roles), tmp_path / "out")
    told = " ".join(outcome.sentences)
    assert f"fell into {outcome.result.n_clusters_choice[0].chosen} clusters" in told
    assert "hold rows" not in told
