"""Documents of many kinds: their text, their labels, and what is refused."""

from __future__ import annotations

import io
import sys
import zipfile

import pytest

import sidelight as sl
from sidelight.errors import UnreadableFile
from sidelight.files.text.folder import text_in

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SIDELIGHT_CACHE", str(tmp_path / "cache"))


def word_document(body):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>')
    return made.getvalue()


def test_the_text_of_documents_is_what_a_reader_sees():
    page = b"<!DOCTYPE html><head><style>p {color: red}</style></head><p>A&amp;B <b>bold</b><script>x()</script></p>"
    assert text_in("a.html", page).split() == ["A&B", "bold"]
    paragraphs = (
        "<w:p><w:r><w:t>Dear </w:t></w:r><w:r><w:t>Anna</w:t></w:r></w:p><w:p><w:r><w:t>Yours</w:t></w:r></w:p>"
    )
    assert text_in("a.docx", word_document(paragraphs)) == "Dear Anna\n\nYours"
    assert text_in("a", b"From: me\nTo: you\nSubject: x\n\nHello") == "Hello"
    assert text_in("a.txt", "Grüße".encode("latin-1")) == "Grüße"
    assert text_in("a.txt", "Grüße".encode("utf-16")) == "Grüße"


def test_documents_that_are_none_or_bombs_are_refused_by_name():
    bomb = word_document(f"<w:p><w:t>{'a' * 20_000_000}</w:t></w:p>")
    entity = word_document("<!ENTITY x 'y'>")
    for name, content in (
        ("b.docx", bomb), ("e.docx", entity), ("n.docx", b"PK\x03\x04nothing"), ("z.txt", b"a\0b"), ("p.pdf", b"text"),
    ):  # fmt: skip
        with pytest.raises(UnreadableFile, match=name):
            text_in(name, content)


def test_a_pdf_needs_its_reader_and_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(UnreadableFile, match=r"sidelight\[pdf\]"):
        text_in("a.pdf", b"%PDF-1.4 ...")


def test_a_pdf_is_read_where_there_is_a_reader():
    pypdf = pytest.importorskip("pypdf", reason="PDF needs the extra pdf")
    made = io.BytesIO()
    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    writer.write(made)
    with pytest.raises(UnreadableFile, match="probably a scan"):
        text_in("a.pdf", made.getvalue())
    with pytest.raises(UnreadableFile, match="cannot be read"):
        text_in("b.pdf", b"%PDF-1.4 nothing more")


def test_a_broken_document_among_others_is_named_and_left_out(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text("the same words again")
    (tmp_path / "d.docx").write_bytes(b"no document")
    for data in (sl.read(tmp_path), sl.from_folder(tmp_path)):
        assert data.n_rows == 3
        assert any("d.docx" in note for note in data.notes)
        assert set(data.feature_names) == {"the", "same", "words", "again"}


def test_lists_may_speak_of_folders_whose_files_are_then_a_bag(tmp_path):
    for box in ("north", "south"):
        (tmp_path / "f" / box).mkdir(parents=True)
        for k in range(3):
            (tmp_path / "f" / box / f"{k}.txt").write_text(f"words of {box}")
    (tmp_path / "l.csv").write_text("where,what\nNorth/,ice|snow\nsouth,sand\neast,rain\n")
    data = sl.from_folder(tmp_path / "f", labels=tmp_path / "l.csv")
    assert {str(bag): set(labels) for bag, labels in data.bags.labels.items()} == {
        "north": {"ice", "snow"}, "south": {"sand"},
    }  # fmt: skip
    assert any("1 folder that is not there (east)" in note for note in data.notes)
    by_paragraph = sl.from_folder(tmp_path / "f", by="paragraph")
    assert by_paragraph.bags.n_bags == 6
