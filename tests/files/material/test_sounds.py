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
