"""Model files that somebody changed: refused by fingerprint, or, without one, named by every method that fails."""

from __future__ import annotations

import io
import json
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from tests.laws.registry import CASES, each

import sidelight as sl
from sidelight.errors import UnsafeArchive

pytestmark = pytest.mark.filterwarnings("ignore")
METHODS = ("predict", "predict_proba", "predict_labels", "transform", "decision_function")
CHANGES = {
    "empty": lambda array: np.zeros(0, array.dtype),
    "an axis more": lambda array: array[None],
    "text": lambda array: np.full(array.shape, "x"),
    "NaN": lambda array: np.full(array.shape, np.nan),
    "huge": lambda array: np.full(array.shape, 1e300),
    "far away": lambda array: np.full(array.shape, 2**62),
    "longer": lambda array: np.concatenate([array, array]) if array.ndim else np.zeros((2, 2)),
}


def _changed(source, target, number, change, *, forged):
    with zipfile.ZipFile(source) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = f"arrays/{number}.npy"
    made = io.BytesIO()
    array = np.ascontiguousarray(change(np.load(io.BytesIO(parts[name]))))
    np.lib.format.write_array(made, array, version=(1, 0), allow_pickle=False)
    parts[name] = made.getvalue()
    if forged:
        manifest = json.loads(parts["manifest.json"])
        del manifest["fingerprint"]  # as in files of before
        parts["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(target, "w") as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    return target


def _n_arrays(path):
    with zipfile.ZipFile(path) as archive:
        return len(archive.namelist()) - 1


@each(CASES)
def test_a_model_whose_arrays_were_changed_is_refused_or_named(case, tmp_path):
    source, target = tmp_path / "model.sidelight", tmp_path / "changed.sidelight"
    sl.save(case.fit(), source)
    X = case.rows()[:5]
    with pytest.raises(UnsafeArchive, match="changed after"):
        sl.load(_changed(source, target, 0, lambda array: np.zeros((1, 2, 3)), forged=False))
    n_arrays = _n_arrays(source)
    for number in range(0, n_arrays, max(1, n_arrays // 12)):
        for at, change in enumerate(CHANGES.values()):
            if at % 3 != number % 3:  # each array is changed in two or three ways
                continue
            try:
                model = sl.load(_changed(source, target, number, change, forged=True))
            except sl.SidelightError:
                continue
            with np.errstate(all="ignore"):
                for method in METHODS:
                    with suppress(sl.SidelightError):  # whatever else comes out fails the test
                        getattr(model, method, lambda X: None)(X)


def test_a_loaded_model_blames_its_file_only_for_what_the_file_did(tmp_path):
    path = tmp_path / "model.sidelight"
    X = np.random.default_rng(0).normal(size=(30, 3))
    sl.save(sl.DiscriminativeClustering(2, random_state=0).fit(X), path)
    model = sl.load(path)
    with pytest.raises(TypeError, match="missing"):
        model.predict()
    with pytest.raises(sl.errors.InvalidData):
        model.predict("rows")
    model.fit(X)
    del model.labels_
    vars(model).clear()
    with pytest.raises(AttributeError):  # fitted since: no file is to blame
        model.predict(X)


def test_whoever_changes_the_words_of_a_manifest_is_found_out(tmp_path):
    path = tmp_path / "model.sidelight"
    sl.save(sl.DiscriminativeClustering(2, random_state=0).fit(np.eye(4)), path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["manifest.json"] = parts["manifest.json"].replace(b'"n_clusters": 2', b'"n_clusters": 3')
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(UnsafeArchive, match="changed after"):
        sl.load(path)
