"""A run looks at its rows once: they are checked and prepared for the fit, and not again for every answer."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.run import run
from sidelight.estimators import _base, scaling


def write_table(path):
    """Write 10 bags of 4 rows with two features and a label."""
    rng = np.random.default_rng(0)
    rows = [f"b{i // 4},{x:.3f},{y:.3f},{'ab'[i // 20]}" for i, (x, y) in enumerate(rng.normal(size=(40, 2)))]
    path.write_text("\n".join(["bag,x,y,labels", *rows]) + "\n")


@pytest.mark.parametrize(
    ("job", "options"), [("instances", {"boundary": "straight"}), ("relations", {"n_clusters": 2})]
)
def test_a_run_checks_each_table_of_rows_once_and_standardises_once(tmp_path, monkeypatch, job, options):
    checked, prepared = [], []
    refuse, scaled = _base.refuse_unusable, scaling.scaled
    monkeypatch.setattr(_base, "refuse_unusable", lambda *args: (checked.append(args[1]), refuse(*args)))
    monkeypatch.setattr(scaling, "scaled", lambda X, *by: prepared.append(X) or scaled(X, *by))
    write_table(tmp_path / "table.csv")
    run(RunConfig(job, str(tmp_path / "table.csv"), {"bag": "bag", "features": ["x", "y"]}, options), tmp_path / "out")
    assert len(checked) == len({id(X) for X in checked})
    assert len(prepared) == 1
