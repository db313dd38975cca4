"""A number of clusters that was not tried, because no other gained, is told like any other."""

from sidelight.app.jobs.page import _unclear
from sidelight.estimators._how_many import NumberOfClusters


def test_one_cluster_because_no_number_gained_is_told():
    choice = NumberOfClusters([2, 3], [0.1, 0.2], [0.3, 0.3], 1, by="counts", is_clear=False)
    assert choice.score == 0.2
    assert len(_unclear([choice])) == 1
