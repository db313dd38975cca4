"""Encodings are guessed: UTF-8 if it can be, Korean and Japanese if it can be nothing else, Windows before Latin-1."""

import pytest

from sidelight.files.reading import read
from sidelight.files.source import guess_encoding


@pytest.mark.parametrize(
    ("text", "encoding", "guess"),
    [
        ("id,größe\n1,2\n", "utf-8", "utf-8"),
        ("id,größe\n1,2\n", "latin-1", "latin-1"),
        ("id,“größe”\n1,5 €\n", "cp1252", "cp1252"),
        ("番号,身長,体重,性別\n1,2,3,男\n", "shift_jis", "cp932"),
        ("番号,“カメラ”\n1,2\n", "cp932", "cp932"),
        ("번호,키,몸무게,성별\n1,2,3,남자\n", "euc_kr", "euc_kr"),
        ("ville,durée\nété,1\nNoël,2\nété,3\n", "latin-1", "latin-1"),
        ("navn,år\nSøren,2\nJäger,3\nMåns,5\n", "latin-1", "latin-1"),
        ("“one” – “two”\n…and ‘three’\n", "cp1252", "cp1252"),
    ],
)
def test_guessed(text, encoding, guess):
    assert guess_encoding(text.encode(encoding)) == guess


def test_what_was_guessed_is_told_and_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(("번호,키,몸무게\n" + "".join(f"{i},{150 + i},{60 + i % 7}\n" for i in range(9))).encode("euc_kr"))
    data = read(path)
    assert "키" in data.feature_names
    assert any("EUC-KR" in note for note in data.notes)
