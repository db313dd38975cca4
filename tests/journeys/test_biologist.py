"""A biologist: recordings and a list that two people wrote become named sounds, and what was lost is told."""

from __future__ import annotations

import csv
import wave

import numpy as np
import pytest

from sidelight.data.synth.material import RATE, make_recordings

pytest.importorskip("soundfile", reason="recordings need the extra audio")
pytestmark = pytest.mark.slow
N = 60


def german(kind, kinds):
    """Return the name of a kind as the list has it."""
    names = ("Zaunkönig", "Grünspecht", "Rotkehlchen", "Amsel", "Buchfink", "Kleiber", "Star", "Mönchsgrasmücke")
    return names[sorted(kinds).index(kind)]


@pytest.fixture(scope="module")
def recordings():
    return make_recordings(N, random_state=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, recordings):
    """Sixty recordings, a broken one, notes, and a list in which two people wrote."""
    place = tmp_path_factory.mktemp("biologist")
    (place / "KW20").mkdir()
    kinds = {name for one in recordings for name in one.species}
    lines = [["Datei", "Arten"]]
    for k, one in enumerate(recordings):
        with wave.open(str(place / "KW20" / f"A{k:02}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(np.rint(32_000 * one.samples).astype("<i2").tobytes())
        names = sorted(german(kind, kinds) for kind in one.species)
        slips = {"Grünspecht": "gruenspecht", "Zaunkönig": "Zaunkonig", "Rotkehlchen": "rotkehlchen "}
        names = [slips.get(name, name) if k in (4, 5, 11, 12) else name for name in names]
        if k != 20:  # forgotten in the list
            lines.append([f"A{k:02}.wav", ("; " if k % 3 == 0 else ", ").join(names)])
    lines.append(["A99.wav", "Amsel"])
    (place / "KW20" / "A61.wav").write_bytes(b"RIFF and nothing else")
    (place / "KW20" / "notizen.txt").write_text("Mikrofon 2 defekt")
    with (place / "liste.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t").writerows(lines)
    return place


def right(folder, run, recordings):
    """Return the share of sounds that bear the name of the call they are of."""
    kinds = {name for one in recordings for name in one.species}
    hits = []
    with (folder / run / "assignments.csv").open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            start, end = float(line["start"]), float(line["end"])
            calls = recordings[int(line["file"][1:3])].calls
            shared = [(min(c[1], end) - max(c[0], start), c[2]) for c in calls]
            overlap, kind = max(shared)
            if overlap > 0:
                hits.append(line["label"] == german(kind, kinds))
    assert len(hits) > 5 * N
    return float(np.mean(hits))


@pytest.fixture
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("SIDELIGHT_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.mark.usefixtures("own_cache")
def test_an_untidy_list_names_the_sounds(folder, sidelight, recordings):
    command = ("instances", "KW20", "--labels", "liste.csv", "--embed", "none")
    code, told = sidelight(*command, "--out", "first", cwd=folder)
    assert code == 0, told
    for word in ("A61.wav", "A99", "says nothing about 2 of 61 files", "--same", "gruenspecht", "Zaunkonig"):
        assert word in told, word
    page = (folder / "first" / "report.html").read_text(encoding="utf-8")
    assert "A61.wav" in page
    assert "--same" in page
    same = ("--same", "gruenspecht=Grünspecht", "--same", "Zaunkonig=Zaunkönig")
    code, told = sidelight(*command, *same, "--out", "second", cwd=folder)
    assert code == 0, told
    assert "--same" not in told
    assert right(folder, "second", recordings) >= 0.97


@pytest.mark.usefixtures("own_cache")
def test_that_a_kind_is_on_no_list_is_the_first_thing_said(folder, sidelight):
    text = (folder / "liste.csv").read_text(encoding="utf-8")
    for mark in (
        ", Rotkehlchen",
        "; Rotkehlchen",
        "Rotkehlchen, ",
        "Rotkehlchen; ",
        "; rotkehlchen ",
        ", rotkehlchen ",
    ):
        text = text.replace(mark, "")
    (folder / "kurz.csv").write_text(text, encoding="utf-8")
    code, told = sidelight("instances", "KW20", "--labels", "kurz.csv", "--embed", "none", "--out", "third", cwd=folder)
    assert code == 0, told
    first = next(line for line in told.splitlines() if line and not line.startswith("sidelight:"))
    assert "on no list" in first
    assert "--novel 1" in first
