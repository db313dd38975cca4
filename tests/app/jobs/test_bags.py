"""The bags job, from a table to its files."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from tests.examples import but_slow

import sidelight as sl
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.run import run
from sidelight.errors import InvalidData


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    X, bags, _ = sl.data.make_overlapping_bags(n_bags=30, n_clusters=3, n_features=4, noise=0.3, random_state=0)
    path = tmp_path_factory.mktemp("bags") / "regions.csv"
    lines = ["image,a,b,c,d"] + [f"img{b}," + ",".join(map(str, row)) for b, row in zip(bags.codes, X)]
    path.write_text("\n".join(lines) + "\n")
    return path


def rows_of(path):
    with path.open(newline="") as handle:
        return list(csv.DictReader(handle))


def test_medoids_name_their_bags(table, tmp_path):
    run(RunConfig("bags", str(table), {"bag": "image"}, {"n_clusters": 3, "method": "medoids"}), tmp_path / "out")
    assert all(row["medoid"].startswith("img") for row in rows_of(tmp_path / "out" / "clusters.csv"))


def test_a_table_without_bags_says_what_to_type(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("a,b\n1,2\n3,4\n5,7\n")
    with pytest.raises(InvalidData, match="bag="):
        run(RunConfig("bags", str(path), {}, {"n_clusters": 2}), tmp_path / "out")


MARGIN = {"method": "margin", "n_clusters": 3}
TRIED = [
    (sl.BagWordClustering, {}),
    (sl.BagWordClustering, {"n_clusters": 3}),
    (sl.MaxMarginBagClustering, MARGIN),
    (sl.estimators.MaxMarginBagClusteringCV, {**MARGIN, "search": True, "n_init": 1}),
]


@pytest.mark.parametrize(("kind", "options"), but_slow(TRIED, *TRIED[:3]))
def test_every_bag_has_a_witness_and_the_model_places_it_again(table, tmp_path, kind, options):
    config = RunConfig("bags", str(table), {"bag": "image"}, options)
    outcome = run(config, tmp_path / "out")
    found, rows = rows_of(tmp_path / "out" / "bags.csv"), rows_of(tmp_path / "out" / "assignments.csv")
    assert len(found) == 30
    for bag in found:
        assert rows[int(bag["witness_row"]) - 1]["bag"] == bag["bag"]
    assert sum(row["witness"] == "True" for row in rows) == 30
    model = sl.load(tmp_path / "out" / "model.sidelight")
    assert isinstance(model, kind)
    data = sl.read(table, bag="image")
    np.testing.assert_array_equal(model.predict_bag_clusters(data.X, data.bags), [int(bag["cluster"]) for bag in found])
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("<canvas") == 1
    assert (page.count('<svg class="plot"') > 0) == (options != {"n_clusters": 3})  # the choice, or the margins
    assert any("clusters were chosen" in sentence for sentence in outcome.sentences) == (not options)
    assert (tmp_path / "out" / "stability.csv").exists() == (not options)
    assert "30 bags (240 rows)" in outcome.sentences[0]
    assert len(rows_of(tmp_path / "out" / "clusters.csv")) == len({bag["cluster"] for bag in found})
