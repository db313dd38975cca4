"""One small file of every format that is read, and small models of every kind."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import struct
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.io
import scipy.sparse as sp
from PIL import Image

import sidelight as sl
from sidelight.data.synth.material import RATE, make_photographs, make_recordings


def rows() -> np.ndarray:
    """Forty rows of five features in two groups."""
    return np.random.default_rng(0).normal(size=(40, 5)).round(3) + 4.0 * (np.arange(40) % 2)[:, None]


def labelled_bags() -> Any:
    """Ten bags of four rows with lists of labels."""
    return sl.Bags(
        [f"b{i // 4}" for i in range(40)], labels={f"b{k}": {"x"} if k % 2 else {"x", "y"} for k in range(10)}
    )


def write_files(folder: Path) -> list[Path]:
    """Write one file of each format; return them in order."""
    folder.mkdir(parents=True, exist_ok=True)
    X = rows()
    data = sl.Dataset(X, tuple("abcde"), bags=labelled_bags())
    for ending in (".csv", ".csv.gz", ".parquet", ".npz"):
        sl.write(data, folder / f"bags{ending}")
    np.save(folder / "rows.npy", X)
    sp.save_npz(folder / "sparse.npz", sp.csr_array(np.where(X > 4, X, 0)))
    cells = X.tolist()
    head = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute class {x,y}\n@data\n"
    inner = "@relation r\n@attribute id string\n@attribute bag relational\n@attribute f numeric\n@end bag\n"
    texts = {
        "dense.arff": head + "".join(f"{r[0]},{r[1]},x\n" for r in cells),
        "sparse.arff": head + "".join(f"{{0 {r[0]},2 y}}\n" for r in cells),
        "bags.arff": f"{inner}@attribute l {{0,1}}\n@data\n"
        + "".join(f"b{i},'{r[0]}\\n{r[1]}',1\n" for i, r in enumerate(cells)),
        "tree.arff": head.replace("{x,y}", "hierarchical 1,1/2,1/2/3,4") + "".join(f"{r[0]},?,1/2@4\n" for r in cells),
        "keel.dat": head.replace("a numeric", "a real [-9.0, 9.0]") + "".join(f"{r[0]}, {r[1]}, x\n" for r in cells),
        "c45.data": "".join(f"{i // 4},{i},{r[0]},{r[1]},1.\n" for i, r in enumerate(cells)),
        "pairs.svm": "".join(f"{i % 3} qid:{i // 4} 1:{r[0]} 4:{r[1]}\n" for i, r in enumerate(cells)),
        "events.csv": "user,film,n\n" + "".join(f"u{i % 7},f{i % 5},{i % 4}\n" for i in range(200)),
        "quoted.csv": 'id;name;"f 1";g\n' + "".join(f'{i};"a;{i % 3}""b";{r[0]};NA\n' for i, r in enumerate(cells)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "utf16.csv").write_text("näme,f\n" + "".join(f"ä{i % 3},{i}.5\n" for i in range(40)), encoding="utf-16")
    _write_matlab(folder, X)
    (folder / "images-idx3-ubyte").write_bytes(b"\0\0\x08\x03" + struct.pack(">3I", 5, 4, 4) + bytes(range(80)))
    with tarfile.open(folder / "texts.tar", "w") as archive:
        for k in range(6):
            content = f"From: me\nSubject: {k}\n\nsome words about topic {k % 2} and others".encode()
            member = tarfile.TarInfo(f"texts/rec.sport.{'ab'[k % 2]}/{k}.txt")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    _write_books(folder, X)
    _write_material(folder)
    _write_texts(folder)
    (folder / "images.gz").write_bytes(gzip.compress((folder / "images-idx3-ubyte").read_bytes()))
    return sorted(p for p in folder.iterdir() if p.is_file())


def _write_books(folder: Path, X: np.ndarray) -> None:
    """Write a database, records, an Arrow file and an archive."""
    records = [
        {"id": i, "at": {"x": r[0], "y": r[1]}, "tags": ["a", "b"][: 1 + i % 2]} for i, r in enumerate(X.tolist())
    ]
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, records)))
    (folder / "log.json").write_text(json.dumps(records))
    base = sqlite3.connect(folder / "base.sqlite")
    with base:
        base.execute("create table rows (name text, x real, y real)")
        base.executemany("insert into rows values (?, ?, ?)", [(f"r{i}", *r[:2]) for i, r in enumerate(X.tolist())])
    base.close()
    pl.DataFrame({"x": X[:, 0], "y": X[:, 1], "name": [f"r{i}" for i in range(len(X))]}).write_ipc(folder / "t.feather")
    with zipfile.ZipFile(folder / "packed.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(folder / "bags.csv", "bags.csv")


def _write_material(folder: Path) -> None:
    """Write a recording and a picture of each kind that is cut."""
    import soundfile

    samples = make_recordings(1, seconds=2.0, random_state=0)[0].samples
    for ending in ("wav", "flac", "ogg", "mp3", "aiff"):
        soundfile.write(folder / f"call.{ending}", samples, RATE)
    picture = Image.fromarray(make_photographs(1, random_state=0)[0].pixels)
    for ending in ("png", "jpg", "gif", "bmp", "tif", "webp"):
        picture.save(folder / f"photo.{ending}")


def _write_texts(folder: Path) -> None:
    """Write a document of each kind whose words are counted."""
    words = "The wren sings in the hedge, the owl calls at night. " * 8
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    (folder / "letter.txt").write_text(words)
    (folder / "letter.md").write_text(f"# Birds\n\n{words}\n\n- *wren*\n- [owl](x)\n")
    (folder / "letter.html").write_text(
        f"<!DOCTYPE html><style>p {{}}</style><p>{words}&amp; <b>jay</b><script>x()</script>"
    )
    (folder / "letter.eml").write_text(f"From: me\nTo: you\nSubject: birds\nContent-Type: text/plain\n\n{words}")
    with zipfile.ZipFile(folder / "letter.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        body = f"<w:p><w:r><w:t>{words}</w:t></w:r></w:p>"
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>')
    (folder / "letter.pdf").write_bytes(_pdf(words))


def _pdf(words: str) -> bytes:
    """Return a PDF of one page with a line of text."""
    stream = f"BT /F1 12 Tf 10 100 Td ({words.replace('(', '').replace(')', '')}) Tj ET".encode()
    parts = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 900 200] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    made, places = b"%PDF-1.4\n", list[int]()
    for number, part in enumerate(parts, start=1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(parts) + 1, table)
    return made + head + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(parts) + 1, len(made))


def _write_matlab(folder: Path, X: np.ndarray) -> None:
    cells = np.empty((3, 1), dtype=object)
    cells[:, 0] = [X[:4], X[4:9], X[9:]]
    few = sp.csc_array(np.where(X > 4, X, 0))
    marks = np.eye(4)[np.arange(10) % 4]
    struct_ = {"X": X, "XtB": np.repeat(np.arange(1, 11), 4)[:, None], "YB": marks, "B": np.arange(1, 11)[:, None]}
    for name, variables, packed in (
        ("cells.mat", {"bags": cells, "targets": np.eye(3)}, False),
        ("packed.mat", {"bags": cells, "targets": np.eye(3)}, True),
        ("sparse.mat", {"fea": few, "gnd": (np.arange(40) % 3)[:, None]}, False),
        ("struct.mat", {"DD": struct_}, False),
        ("words.mat", {"X": X, "names": np.array([f"r{i}" for i in range(40)], dtype=object)}, False),
    ):
        buffer = io.BytesIO()
        scipy.io.savemat(buffer, variables, do_compression=packed)
        (folder / name).write_bytes(buffer.getvalue())


def write_models(folder: Path) -> list[Path]:
    """Save models of several families and data objects; return the files in order."""
    folder.mkdir(parents=True, exist_ok=True)
    X, bags = rows(), labelled_bags()
    things = {
        "coverage": sl.CoverageClustering(max_iter=5, n_init=1).fit(X, bags=bags),
        "medoids": sl.estimators.BagKMedoids(2).fit(X, bags=bags),
        "relations": sl.DiscriminativeClustering(2).fit(X),
        "scaled": sl.Standardized(sl.DiscriminativeClustering(2)).fit(X),
        "spectral": sl.peers.RegularizedSpectralClustering(2).fit(X, bags=bags),
        "coclusters": sl.InformationCoclustering((2, 2)).fit(np.abs(X)),
        "bags": bags,
        "pairs": sl.Pairs([0, 1], [2, 3], [True, False], n_rows=40),
        "tree": sl.LabelTree([-1, 0, 0]),
    }
    for name, thing in things.items():
        sl.save(thing, folder / f"{name}.sidelight")
    return sorted(folder.glob("*.sidelight"))
