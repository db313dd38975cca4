"""A run, its model and its run.toml remember the network that described the rows, and predict asks for the same one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import sidelight as sl

sys.path.insert(0, str(Path(__file__).parents[2] / "files" / "cards"))
from tiny import tiny_network


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SIDELIGHT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def photos(tmp_path):
    """Return a folder of eight pictures, one colour above and another below."""
    folder = tmp_path / "photos"
    folder.mkdir()
    colours = [(200, 30, 30), (30, 200, 30), (30, 30, 200), (200, 200, 30)]
    for k in range(8):
        pixels = np.full((60, 80, 3), colours[k % 4], np.uint8)
        pixels[30:] = colours[(k + 1 + k // 4) % 4]
        Image.fromarray(pixels).save(folder / f"p{k}.png")
    return folder


@pytest.mark.slow
def test_a_model_knows_its_network_again(photos, tmp_path, sidelight):
    pytest.importorskip("onnxruntime", reason="model files need the extra eyes")
    network = tmp_path / "tiny.onnx"
    network.write_bytes(tiny_network())
    rows, run = tmp_path / "rows.parquet", tmp_path / "run"
    code, _, err = sidelight("from", photos, "--regions", 2, "--embed", network, "--out", rows, "--jobs", 1)
    assert code == 0, err
    code, _, err = sidelight("relations", rows, "-k", 4, "--out", run)
    assert code == 0, err
    told = (run / "run.toml").read_text()
    assert '"described by" = "tiny ' in told
    assert "lightness" in (run / "clusters.csv").read_text()
    card = json.loads(sl.load(run / "model.sidelight").material_)["card"]
    assert card["name"] == "tiny"
    code, _, err = sidelight("predict", run / "model.sidelight", photos, "--out", tmp_path / "new.csv")
    assert code == 0, err
    network.write_bytes(tiny_network(scale=2.0))
    code, _, err = sidelight("predict", run / "model.sidelight", photos, "--out", tmp_path / "other.csv")
    assert code == 2
    assert "The weights of tiny" in err
    assert card["checksum"] in err
    other = tmp_path / "other.parquet"
    assert sidelight("from", photos, "--regions", 2, "--embed", network, "--out", other, "--jobs", 1)[0] == 0
    code, _, err = sidelight("predict", run / "model.sidelight", other, "--out", tmp_path / "other.csv")
    assert code == 2
    assert "were described by tiny" in err
    assert not (tmp_path / "other.csv").exists()


def test_a_run_on_a_folder_takes_a_card(photos, tmp_path, sidelight):
    run = tmp_path / "run"
    code, _, err = sidelight("relations", photos, "-k", 4, "--embed", "tiny:as_function", "--out", run)
    assert code == 0, err
    code, _, err = sidelight("predict", run / "model.sidelight", photos, "--out", tmp_path / "new.csv")
    assert code == 2
    assert "runs no code unasked" in err
    assert "--embed tiny:as_function" in err
    model, new = run / "model.sidelight", tmp_path / "new.csv"
    code, _, err = sidelight("predict", model, photos, "--embed", "tiny:as_function", "--out", new)
    assert code == 0, err
