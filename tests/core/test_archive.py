"""Files without code: what was written comes back, and hostile files are refused before they do harm."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import sidelight as sl
from sidelight._core.archive import Decoder, Encoder
from sidelight.errors import InvalidData, InvalidInput, InvalidParameter, UnreadableFile, UnsafeArchive

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers(), st.text()), inner, max_size=3)
        | st.frozensets(st.integers(), max_size=3)
    ),
    max_leaves=10,
)


@given(values)
def test_values_survive_a_round_trip(value):
    encoder = Encoder(lambda name: None)
    form = json.loads(json.dumps(encoder.encode(value, "value"), allow_nan=False))
    decoded = Decoder(encoder.arrays, lambda name: None, "memory").decode(form)
    assert decoded == value
    assert type(decoded) is type(value)


@pytest.mark.parametrize(
    "array",
    [np.arange(6.0).reshape(2, 3).T, np.array(["a", "bc"]), np.array(["a", ("b", 1)], dtype=object), np.float32(3)],
    ids=["fortran order", "strings", "objects", "scalar"],
)
def test_arrays_survive_with_their_types(array):
    encoder = Encoder(lambda name: None)
    form = encoder.encode(array, "array")
    decoded = Decoder(encoder.arrays, lambda name: None, "memory").decode(form)
    assert decoded.dtype == array.dtype
    np.testing.assert_array_equal(decoded, array)


def test_sparse_matrices_survive():
    encoder = Encoder(lambda name: None)
    matrix = sp.csr_array(np.diag([1.0, 0.0, 3.0]))
    form = encoder.encode(matrix, "matrix")
    decoded = Decoder(encoder.arrays, lambda name: None, "memory").decode(form)
    np.testing.assert_array_equal(decoded.toarray(), matrix.toarray())


def test_a_function_is_refused_by_name(tmp_path):
    estimator = sl.DiscriminativeClustering(2)
    estimator.penalty = np.mean
    with pytest.raises(InvalidData, match=r"DiscriminativeClustering\.penalty.*function"):
        sl.save(estimator, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_random_state_is_refused_with_advice(tmp_path):
    with pytest.raises(InvalidData, match=r"random_state as an int"):
        sl.save(sl.DiscriminativeClustering(2, random_state=np.random.RandomState(0)), tmp_path / "m")


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "model.sidelight"
    X = np.random.default_rng(0).normal(size=(20, 2))
    sl.save(sl.DiscriminativeClustering(2, n_init=1, random_state=0).fit(X), path)
    return path


def test_the_manifest_says_what_the_model_saw(model_file):
    with zipfile.ZipFile(model_file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert manifest["format"] == 1
    assert manifest["fitted_on"]["features"] == 2
    assert manifest["fitted_on"]["fingerprint"]
    assert "numpy" in manifest["libraries"]


def rewrite(path, **changes):
    """Copy a model file with some members replaced or added."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    compression = changes.pop("compression", zipfile.ZIP_STORED)
    members.update({name.replace("__", "/").replace("_DOT_", "."): content for name, content in changes.items()})
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def test_a_zip_bomb_is_refused(model_file):
    rewrite(model_file, compression=zipfile.ZIP_DEFLATED, arrays__0_DOT_npy=b"\0" * 10_000_000)
    with pytest.raises(UnsafeArchive, match="zip bomb"):
        sl.load(model_file)


def test_a_path_outside_is_refused(model_file):
    rewrite(model_file, **{"..__evil": b"x"})
    with pytest.raises(UnsafeArchive, match="evil"):
        sl.load(model_file)


def test_an_object_array_is_refused(model_file):
    rewrite(model_file, arrays__0_DOT_npy=npy(np.array([{}]), allow_pickle=True))
    with pytest.raises(UnsafeArchive, match="could run code"):
        sl.load(model_file)


def test_a_lying_shape_is_refused_before_anything_is_allocated(model_file):
    honest = npy(np.zeros(10))
    rewrite(model_file, arrays__0_DOT_npy=honest.replace(b"(10,)", b"(9999999999999,)").replace(b" " * 11, b"", 1))
    with pytest.raises(UnsafeArchive):
        sl.load(model_file)


def test_a_future_format_is_refused_by_name(model_file):
    rewrite(model_file, manifest_DOT_json=json.dumps({"format": 99, "sidelight": "9.9", "content": None}))
    with pytest.raises(UnsafeArchive, match=r"format 99.*Upgrade"):
        sl.load(model_file)


@pytest.mark.parametrize("name", ["os.system", "save", "Path", "SidelightError"])
def test_only_public_classes_are_built(model_file, name):
    content = {"estimator": name, "params": {}, "fitted": {}}
    rewrite(model_file, manifest_DOT_json=json.dumps({"format": 1, "content": content}))
    with pytest.raises(UnsafeArchive):
        sl.load(model_file)


def test_deep_nesting_is_refused(model_file):
    rewrite(model_file, manifest_DOT_json='{"format": 1, "content": ' + "[" * 100_000 + "]" * 100_000 + "}")
    with pytest.raises(UnsafeArchive):
        sl.load(model_file)


def test_a_truncated_file_is_refused(model_file):
    content = model_file.read_bytes()
    for length in (0, 10, len(content) // 2, len(content) - 5):
        model_file.write_bytes(content[:length])
        with pytest.raises(UnsafeArchive):
            sl.load(model_file)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UnreadableFile, match=r"nowhere\.sidelight"):
        sl.load(tmp_path / "nowhere.sidelight")


def test_a_failed_save_keeps_the_old_file(model_file):
    before = model_file.read_bytes()
    with pytest.raises(InvalidData):
        sl.save(sl.DiscriminativeClustering(2, random_state=np.random.RandomState(0)), model_file)
    assert model_file.read_bytes() == before
    assert [path.name for path in model_file.parent.iterdir()] == [model_file.name]


def test_a_generator_goes_on_where_it_stopped(tmp_path):
    estimator = sl.DiscriminativeClustering(2, random_state=np.random.default_rng(3))
    estimator.random_state.random(5)
    sl.save(estimator, tmp_path / "m")
    assert sl.load(tmp_path / "m").random_state.random() == estimator.random_state.random()


@pytest.mark.parametrize("version", [0, -1, True, "1"])
def test_a_format_that_never_was_is_refused(model_file, version):
    with zipfile.ZipFile(model_file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    rewrite(model_file, **{"manifest.json": json.dumps({**manifest, "format": version})})
    with pytest.raises(UnsafeArchive, match="format"):
        sl.load(model_file)


@pytest.mark.parametrize("path", [5, None, ["a"]])
def test_a_path_that_is_none_is_refused(path):
    with pytest.raises(InvalidParameter, match="needs a path"):
        sl.load(path)
    with pytest.raises(InvalidParameter, match="needs a path"):
        sl.save(sl.DiscriminativeClustering(2), path)


def test_damaged_files_are_refused_and_nothing_else(tmp_path):
    model = sl.DiscriminativeClustering(2, random_state=0).fit(np.eye(6))
    sl.save(model, tmp_path / "m")
    good = (tmp_path / "m").read_bytes()
    generator = np.random.default_rng(0)
    n_refused = 0
    for _ in range(400):
        damaged = bytearray(good)
        for at in generator.integers(len(good), size=3):
            damaged[at] = generator.integers(256)
        (tmp_path / "damaged").write_bytes(bytes(damaged))
        try:
            loaded = sl.load(tmp_path / "damaged")
        except InvalidInput:
            n_refused += 1
        else:  # the damage was in a date or a flag of the archive
            assert np.array_equal(loaded.labels_, model.labels_)
            assert loaded.get_params() == model.get_params()
    assert n_refused > 300
