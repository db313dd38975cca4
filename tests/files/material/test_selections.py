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


HEAD = "Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tLow Freq (Hz)\tHigh Freq (Hz)"


@pytest.mark.parametrize(
    ("name", "text", "is_table"),
    [
        ("a.txt", RAVEN, True),
        ("a.txt", "\ufeff" + RAVEN, True),
        ("a.csv", RAVEN, True),
        ("a.txt", RAVEN.replace("Begin Time (s)", "Begin"), False),
        ("a.txt", RAVEN.replace("Selection\t", "Selected\t"), False),
        ("a.csv", "Start (s),End (s),Common name\n", True),
        ("a.csv", "Start (s),Common name\n", False),
        ("a.csv", "End (s),Common name\n", False),
        ("a.csv", "Start (s) End (s) Common name\n", False),
        ("a.txt", "0.5\t0.9\twren\n", True),
        ("a.TXT", "0,5\t0,9\t\n", True),
        ("a.csv", "0.5\t0.9\twren\n", False),
        ("a.txt", "0.5\t0.9\n", False),
        ("a.txt", "0.5\tsoon\twren\n", False),
        ("a.txt", "soon\t0.9\twren\n", False),
        ("a.txt", "", False),
        ("a.txt", " \n", False),
    ],
)
def test_a_selection_table_is_known_by_its_first_line(tmp_path, name, text, is_table):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert is_selection_table(path) == is_table
    assert not is_selection_table(tmp_path / "none.txt")


def test_everything_that_raven_says_is_read(tmp_path):
    text = HEAD + "\tBegin File\tSpecies\tConfidence\n\n1\tS\t1\t0.5\t0.9\t200\t600\t/x/a.wav\twren\t0.25\n"
    text += "1\tS\t1\t0.5\t0.9\t200\t600\t/x/b.wav\twren\tsure\n2\tS\t1\t3\t4\t\t\t/x/a.wav\tNoCall\t1\n"
    text += "3\tS\t1\t5\t6\t200\t600\t/x/a.wav\n"
    assert read(tmp_path, text) == [
        Selection("a.wav", 0.5, 0.9, "wren", 0.25, 200, 600),
        Selection("b.wav", 0.5, 0.9, "wren", 1.0, 200, 600),
    ]
    assert len(read(tmp_path, text, min_confidence=0.25)) == 2
    assert len(read(tmp_path, text, min_confidence=0.26)) == 1


def test_the_free_column_that_is_filled_most_is_the_label(tmp_path):
    rows = "\n1\tS\t1\t0.5\t0.9\t200\t600\ta.wav\tloud\twren\t\n2\tS\t1\t1\t2\t200\t600\ta.wav\t\towl\t\n"
    assert [s.label for s in read(tmp_path, HEAD + "\tFile\tvolume\tbird\tmore" + rows)] == ["wren", "owl"]
    assert [s.label for s in read(tmp_path, HEAD + "\tFile\tbird\tvolume\t" + rows)] == ["wren", "owl"]
    assert read(tmp_path, HEAD + "\n1\tS\t1\t0.5\t0.9\t200\t600\n") == []
    assert read(tmp_path, HEAD + "\tFile\n1\tS\t1\t0.5\t0.9\t200\t600\ta.wav\n") == []


def test_a_combined_table_may_lack_an_offset(tmp_path):
    head = HEAD + "\tSpecies\tFile Offset (s)\n"
    text = head + "1\tS\t1\t603\t606.5\t0\t1\twren\t3\n2\tS\t1\t7\t8\t0\t1\towl\t\n"
    assert [(s.start, s.end) for s in read(tmp_path, text)] == [(3.0, 6.5), (7.0, 8.0)]


def test_everything_that_birdnet_says_is_read(tmp_path):
    text = "Start (s),End (s),Scientific name,Confidence\n0,3,Troglodytes,0.5\n3,6,,0.9\n6,9,Strix,\n9,12,Parus,sure\n"
    assert read(tmp_path, text, "a.csv") == [
        Selection("", 0, 3, "Troglodytes", 0.5), Selection("", 6, 9, "Strix"), Selection("", 9, 12, "Parus"),
    ]  # fmt: skip
    assert read(tmp_path, "Start (s),End (s),Label\n0,3,x\n", "a.csv") == [Selection("", 0, 3, "x")]
    assert read(tmp_path, "Start (s),End (s),Species,Common name\n0,3,x,y\n", "a.csv")[0].label == "y"
    with pytest.raises(InvalidData, match="Common name"):
        read(tmp_path, "Start (s),End (s),x\n0,3,x\n", "a.csv")


def test_lines_of_audacity_may_be_empty_or_short(tmp_path):
    text = "0.1\t0.2\ta\n\n0.3\t0.4\n\\\t100\n"
    assert read(tmp_path, text, "a.txt") == [Selection("", 0.1, 0.2, "a"), Selection("", 0.3, 0.4, "", 1.0, 100.0)]


@pytest.mark.parametrize("cell", ["-0.1", "soon", "1e9", "nan"])
def test_what_is_no_time_is_refused(tmp_path, cell):
    with pytest.raises(InvalidData, match="line 2: expected seconds"):
        read(tmp_path, f"0\t0.2\ta\n0.1\t{cell}\tb\n", "a.txt")


def test_boxes_are_written_where_they_are_known():
    one, box = Selection("a.wav", 0.5, 1, "wren", 0.75), Selection("a.wav", 0.5, 1, "wren", 0.75, 200, 600)
    for form, plain, boxed in (
        ("audacity", "0.500000\t1.000000\twren\n", "0.500000\t1.000000\twren\n\\\t200.000000\t600.000000\n"),
        ("raven", "1.0000\t0.0\t22050.0\ta.wav", "1.0000\t200.0\t600.0\ta.wav"),
    ):
        assert plain in write_selections([one], form)
        assert boxed in write_selections([box], form)
    low = Selection("a.wav", 0.5, 1, "wren", 0.75, low=200)
    assert "\\" not in write_selections([low], "audacity")
    assert "0.5,1.0,,wren,0.7500,a.wav" in write_selections([one], "birdnet")
    assert write_selections([one, one], "raven").splitlines()[2].startswith("2\t")
