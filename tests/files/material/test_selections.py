"""Selection tables of three programs, as they write them and as people edit them."""

from __future__ import annotations

import pytest

from sidelight.errors import InvalidData
from sidelight.files.material.selections import Selection, is_selection_table, read_selections, write_selections

RAVEN = (
    "Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tLow Freq (Hz)\tHigh Freq (Hz)\tSpecies\t\n"
    "1\tWaveform 1\t1\t0.5\t0.9\t0.0\t11025.0\twren\t\n"
    "1\tSpectrogram 1\t1\t0.5\t0.9\t2000.0\t6000.0\twren\t\n"
    "2\tSpectrogram 1\t1\t3.25\t4.0\t300.0\t500.0\towl\t\n"
)


def read(tmp_path, text, name="r.Table.1.selections.txt", **how):
    path = tmp_path / name
    path.write_text(text)
    assert is_selection_table(path)
    return read_selections(path, **how)


def test_raven_lists_each_selection_twice_and_it_counts_once(tmp_path):
    found = read(tmp_path, RAVEN)
    assert [(s.start, s.end, s.label) for s in found] == [(0.5, 0.9, "wren"), (3.25, 4.0, "owl")]


def test_a_free_column_of_raven_without_a_known_name_is_the_label(tmp_path):
    text = RAVEN.replace("Species", "Vogelart")
    assert [s.label for s in read(tmp_path, text)] == ["wren", "owl"]


def test_an_empty_table_of_raven_has_no_selection(tmp_path):
    assert read(tmp_path, RAVEN.splitlines()[0] + "\n") == []


def test_audacity_has_boxes_and_points(tmp_path):
    text = "0.100000\t0.400000\twren\n\\\t2000.0\t6000.0\n1.5\t1.5\tclick\n"
    found = read(tmp_path, text, "labels.txt")
    assert found[0] == Selection("", 0.1, 0.4, "wren", 1.0, 2000.0, 6000.0)
    assert (found[1].start, found[1].end, found[1].label) == (1.5, 1.5, "click")


def test_birdnet_is_filtered_by_confidence_and_nocall_is_nothing(tmp_path):
    text = (
        "Start (s),End (s),Scientific name,Common name,Confidence,File\n"
        "0.0,3.0,T. troglodytes,Eurasian Wren,0.91,/data/a.wav\n3.0,6.0,S. aluco,Tawny Owl,0.2,/data/a.wav\n"
        "6.0,9.0,nocall,nocall,1.0,/data/a.wav\n"
    )
    found = read(tmp_path, text, "a.BirdNET.results.csv", min_confidence=0.5)
    assert [(s.file, s.label) for s in found] == [("a.wav", "Eurasian Wren")]


def test_a_combined_table_of_birdnet_counts_seconds_of_each_file(tmp_path):
    text = (
        "Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tLow Freq (Hz)\tHigh Freq (Hz)\tCommon Name\t"
        "Species Code\tConfidence\tBegin Path\tFile Offset (s)\n"
        "1\tSpectrogram 1\t1\t603.0\t606.0\t0\t12000\tWren\twren1\t0.8\t/x/b.wav\t3.0\n"
    )
    (one,) = read(tmp_path, text)
    assert (one.file, one.start, one.end, one.label) == ("b.wav", 3.0, 6.0, "Wren")


@pytest.mark.parametrize("form", ["raven", "audacity", "birdnet"])
def test_what_is_written_reads_back(tmp_path, form):
    told = [Selection("a.wav", 0.5, 1.0, "Kohl\tmeise", 0.75), Selection("a.wav", 2.0, 2.5, "wren", 1.0)]
    path = tmp_path / ("x.csv" if form == "birdnet" else "x.txt")
    path.write_text(write_selections(told, form))
    back = read_selections(path)
    assert [(s.start, s.end) for s in back] == [(0.5, 1.0), (2.0, 2.5)]
    assert back[1].label == "wren"
    assert back[0].label.split() == ["Kohl", "meise"]


def test_a_line_without_seconds_is_named(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("0.1\t0.2\ta\nsoon\tlater\tb\n")
    with pytest.raises(InvalidData, match=r"x\.txt, line 2: expected seconds"):
        read_selections(path)
