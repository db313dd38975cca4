"""Recordings cut into sounds: what is found, what it is called, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.data.synth.material import RATE, make_recordings
from sidelight.errors import UnreadableFile
from sidelight.files.material import sounds
from sidelight.files.material.sounds import SoundRecipe, cut_recording, describe_piece, rate_of

soundfile = pytest.importorskip("soundfile", reason="recordings need the extra audio")


def write(path, samples, rate=RATE, **how):
    soundfile.write(path, samples, rate, **how)
    return path


def overlap(one, other):
    return max(0.0, min(one[1], other[1]) - max(one[0], other[0]))


def test_calls_are_found_and_nothing_else(tmp_path):
    found = hits = n_sounds = 0
    for recording in make_recordings(6, random_state=0):
        path = write(tmp_path / "r.wav", recording.samples)
        pieces = [(sound.start, sound.end) for sound in cut_recording(path, SoundRecipe())]
        n_sounds += len(pieces)
        found += sum(
            any(overlap(piece, call) > 0.5 * (call[1] - call[0]) for piece in pieces) for call in recording.calls
        )
        hits += sum(
            any(overlap(piece, call) > 0.5 * (piece[1] - piece[0]) for call in recording.calls) for piece in pieces
        )
    n_calls = sum(len(recording.calls) for recording in make_recordings(6, random_state=0))
    assert found >= 0.95 * n_calls
    assert hits >= 0.95 * n_sounds


def test_features_have_names_and_do_not_depend_on_how_loud_a_recording_is(tmp_path):
    recording = make_recordings(1, random_state=1)[0]
    loud, quiet = (
        cut_recording(write(tmp_path / f"{k}.wav", k * recording.samples, subtype="FLOAT"), SoundRecipe())
        for k in (1.0, 0.25)
    )
    names = SoundRecipe().feature_names
    assert len(names) == len(set(names)) == 107
    assert all(sound.features.shape == (107,) and np.isfinite(sound.features).all() for sound in loud)
    assert len(loud) == len(quiet)
    np.testing.assert_allclose(loud[0].features, quiet[0].features, rtol=0.05, atol=0.3)  # the noise is quieter, too


def test_the_bands_are_the_same_hertz_whatever_the_rate_of_a_file(tmp_path):
    pitches = []
    for rate in (22_050, 44_100):
        t = np.arange(2 * rate) / rate
        tone = np.where((t > 0.5) & (t < 1.0), np.sin(2 * np.pi * 3000 * t), 0.0)
        noise = 0.003 * np.random.default_rng(0).normal(size=t.size)
        (sound,) = cut_recording(write(tmp_path / f"{rate}.wav", 0.5 * tone + noise, rate), SoundRecipe(22_050))
        pitches.append(sound.features[SoundRecipe().feature_names.index("peak band")])
    assert pitches[0] == pitches[1]


def test_stretches_of_a_long_recording_lose_no_call(tmp_path, monkeypatch):
    recording = make_recordings(1, seconds=30.0, random_state=2)[0]
    path = write(tmp_path / "long.wav", recording.samples)
    whole = cut_recording(path, SoundRecipe())
    monkeypatch.setattr(sounds, "_STRETCH", 10.0)
    parts = cut_recording(path, SoundRecipe())
    assert len(parts) == len(whole)
    np.testing.assert_allclose([s.start for s in parts], [s.start for s in whole], atol=0.05)


def test_masks_tell_calls_apart_that_overlap_in_time(tmp_path):
    rate = 22_050
    t = np.arange(2 * rate) / rate
    on = (t > 0.5) & (t < 1.1)
    both = np.where(on, np.sin(2 * np.pi * 800 * t) + np.sin(2 * np.pi * 6000 * t), 0.0)
    path = write(tmp_path / "two.wav", 0.3 * both + 0.002 * np.random.default_rng(0).normal(size=t.size))
    assert len(cut_recording(path, SoundRecipe())) == 1
    assert len(cut_recording(path, SoundRecipe(cut="masks"))) == 2


def test_a_piece_that_somebody_marked_is_described(tmp_path):
    recording = make_recordings(1, random_state=3)[0]
    path = write(tmp_path / "r.wav", recording.samples)
    start, end, _ = recording.calls[0]
    own = cut_recording(path, SoundRecipe())[0]
    described = describe_piece(path, SoundRecipe(), own.start, own.end)
    np.testing.assert_allclose(described, own.features, atol=1e-6)
    assert end > start
    with pytest.raises(UnreadableFile, match="ends before second 99"):
        describe_piece(path, SoundRecipe(), 99.0, 100.0)


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "FLOAT", "DOUBLE"])
def test_every_kind_of_sample_and_any_number_of_channels(tmp_path, subtype):
    samples = make_recordings(1, seconds=3.0, random_state=4)[0].samples
    path = write(tmp_path / "r.wav", np.stack([samples] * 8, axis=1), subtype=subtype)
    assert rate_of(path) == RATE
    assert cut_recording(path, SoundRecipe())


@pytest.mark.parametrize("samples", [np.zeros(30_000), np.zeros(0), np.full(5, 0.5), np.ones(30_000)])
def test_silence_and_nothing_have_no_sounds(tmp_path, samples):
    assert cut_recording(write(tmp_path / "r.wav", samples), SoundRecipe()) == []


def test_a_clipped_recording_is_cut(tmp_path):
    recording = make_recordings(1, random_state=5)[0]
    path = write(tmp_path / "r.wav", np.clip(8 * recording.samples, -1, 1))
    assert len(cut_recording(path, SoundRecipe())) >= 0.7 * len(recording.calls)


@pytest.mark.parametrize("content", [b"", b"RIFF", b"RIFF\0\0\0\0WAVEfmt ", b"no sound at all" * 100])
def test_what_is_no_recording_is_refused_by_name(tmp_path, content):
    path = tmp_path / "broken.wav"
    path.write_bytes(content)
    with pytest.raises(UnreadableFile, match=r"broken\.wav: no recording that can be read"):
        cut_recording(path, SoundRecipe())


def test_one_recording_of_a_telephone_does_not_make_the_others_deaf():
    from sidelight.files.material.sounds import common_rate

    assert common_rate([44_100] * 9 + [8_000]) == 22_050
    assert common_rate([44_100, 16_000, 16_000]) == 16_000
    assert common_rate([8_000] * 3) == 8_000
    assert common_rate([]) == 22_050


def test_a_recording_that_is_far_too_deep_is_named(tmp_path):
    path = tmp_path / "deep.wav"
    soundfile.write(path, np.zeros(8000), 8000)
    with pytest.raises(UnreadableFile, match="no high sounds"):
        cut_recording(path, SoundRecipe(22_050))
    assert cut_recording(path, SoundRecipe(8_000)) == []


# ---- on grids made by hand


def grid(*boxes, shape=(64, 100)):
    """Return decibels over the floor: nothing but boxes of (first band, last, first frame, last, decibels)."""
    loud = np.zeros(shape)
    for low, high, first, last, level in boxes:
        loud[low:high, first:last] = level
    return loud


def test_pieces_of_time():
    for boxes, pieces in [
        ([(0, 64, 10, 20, 20)], [(10, 20)]),
        ([(0, 64, 10, 15, 20)], [(10, 15)]),  # five frames are the shortest
        ([(0, 64, 10, 14, 20)], []),
        ([(0, 64, 10, 20, 20), (0, 64, 24, 30, 20)], [(10, 30)]),
        ([(0, 64, 10, 20, 20), (0, 64, 25, 30, 20)], [(10, 20), (25, 30)]),  # five frames between them
        ([(0, 64, 10, 20, 3)], []),
        ([(0, 64, 10, 20, 6)], []),  # never over six decibels
        ([(0, 64, 10, 20, 7)], [(10, 20)]),
        ([(0, 64, 10, 20, 7), (0, 64, 20, 30, 4), (0, 64, 30, 40, 3)], [(10, 30)]),
    ]:
        assert [(first, last) for first, last, _ in sounds._pieces_of_time(grid(*boxes))] == pieces


def test_long_pieces_are_cut_where_they_are_quiet():
    height = np.full(500, 9.0)
    height[150], height[20] = 5, 1
    assert sounds._cut_long([(0, 200)], height) == [(0, 200)]
    assert sounds._cut_long([(0, 300)], height) == [(0, 150), (150, 300)]
    assert sounds._cut_long([(300, 400), (0, 201)], height) == [(0, 150), (150, 201), (300, 400)]


def test_patches_of_time_and_pitch():
    found = sounds._patches(grid((40, 48, 30, 40, 20), (5, 13, 10, 20, 20), (20, 24, 60, 69, 20), (30, 50, 80, 84, 20)))
    assert [(first, last, int(mask.sum())) for first, last, mask in found] == [(10, 20, 80), (30, 40, 80)]
    assert [tuple(np.flatnonzero(mask.any(axis=1))[[0, -1]]) for _, _, mask in found] == [(5, 12), (40, 47)]
    assert len(sounds._patches(grid((20, 24, 60, 70, 20)))) == 1  # forty cells
    assert len(sounds._patches(grid((20, 30, 60, 65, 20)))) == 1  # five frames
    assert sounds._patches(grid((20, 30, 60, 70, 9))) == []
    both = sounds._patches(grid((5, 13, 10, 20, 20), (40, 48, 10, 20, 20)))
    assert [int(mask.sum()) for _, _, mask in both] == [80, 80]


def test_the_shape_of_a_sound_is_described():
    heard = grid((10, 14, 2, 6, 20.0), shape=(64, 8))
    told = dict(zip(SoundRecipe().feature_names, sounds.features_of(heard, None)))
    expected = {
        "log duration": np.log(0.08), "lowest band": 10, "highest band": 13, "bandwidth": 3, "peak band": 10,
        "mean band": 11.5, "spread over bands": np.sqrt(1.25), "skewness over bands": 0,
        "concentration over bands": 0.25,
        "entropy over bands": np.log(4) / np.log(65), "peak time": 0.25, "mean time": 0.5,
        "concentration over time": 0.25,
        "entropy over time": np.log(4) / np.log(9), "log area": np.log(17), "edge share": 16 / 17,
        "edge length": 16**2 / 17 / 100, "filled share": 17 / 32, "loudest": 20, "loudness": 20 * 16 / 512,
        "pitch spread": 5, "pitch rise": 0, "change": 2 * 4 * 20 / (64 * 7),
    }  # fmt: skip
    for name, value in expected.items():
        assert told[name] == pytest.approx(value, abs=1e-4), name
    of_bands = np.array(list(told.values())[27:]).reshape(5, 16)
    assert of_bands[0].nonzero()[0].tolist() == [2, 3]
    np.testing.assert_allclose(
        of_bands[2:, 2], [10 / 3, 10, 10 / 3]
    )  # two bands of four, in thirds of 3, 2 and 3 frames
    silent = dict(zip(SoundRecipe().feature_names, sounds.features_of(grid(shape=(64, 1)), None)))
    assert (silent["lowest band"], silent["highest band"], silent["change"]) == (0, 63, 0)
    quiet = dict(zip(SoundRecipe().feature_names, sounds.features_of(grid((10, 14, 2, 6, 9.0), shape=(64, 8)), None)))
    assert quiet["log area"] == 0
    masked = sounds.features_of(np.full((64, 8), 20.0), heard > 0)
    np.testing.assert_allclose(masked, sounds.features_of(heard, None))
    loud = dict(zip(SoundRecipe().feature_names, sounds.features_of(grid((10, 14, 2, 6, 90.0), shape=(64, 8)), None)))
    assert loud["loudest"] == 40


def test_the_rate_of_a_folder_is_the_lowest_that_is_not_far_below_the_others():
    assert sounds.common_rate([]) == 22_050
    assert sounds.common_rate([44_100, 48_000]) == 22_050
    assert sounds.common_rate([16_000, 44_100, 16_000]) == 16_000
    assert sounds.common_rate([8_000, 16_000, 16_000]) == 8_000  # half of the others'
    assert sounds.common_rate([7_999, 16_000, 16_000]) == 16_000


def test_a_piece_of_a_long_recording_is_described_as_in_a_short_one(tmp_path, monkeypatch):
    monkeypatch.setattr(sounds, "_STRETCH", 10.0)
    rate = 8000
    noise = 0.003 * np.random.default_rng(0).normal(size=40 * rate)
    t = np.arange(rate // 2) / rate
    noise[30 * rate : 30 * rate + len(t)] += np.sin(2 * np.pi * 1500 * t)
    path = write(tmp_path / "r.wav", noise, rate)
    recipe = SoundRecipe(rate=rate)
    told = dict(zip(recipe.feature_names, describe_piece(path, recipe, 30.0, 30.5)))
    assert told["log duration"] == pytest.approx(np.log(0.5), abs=0.01)
    assert told["loudest"] > 30
    assert dict(zip(recipe.feature_names, describe_piece(path, recipe, 20.0, 20.5)))["loudest"] < 25
    (found,) = [s for s in cut_recording(path, recipe) if s.features[22] > 30]
    assert (found.start, found.end) == pytest.approx((30.0, 30.5), abs=0.06)
    assert describe_piece(path, recipe, 39.95, 45.0).shape == (107,)
    with pytest.raises(UnreadableFile, match="ends before second 41"):
        describe_piece(path, recipe, 41.0, 42.0)
    with pytest.raises(UnreadableFile, match="8000 samples a second"):
        cut_recording(path, SoundRecipe(rate=11_429))
    cut_recording(path, SoundRecipe(rate=11_428))  # seven tenths are enough
