"""score and compare: tables joined by the names of their rows, runs side by side."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import sidelight as sl
from sidelight.app.cli.app import app
from sidelight.app.jobs.score import score
from sidelight.errors import InvalidData, OutputExists


def call(*words, notes=False):
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None:
        raise done.exception
    return done.stderr if notes else done.stdout


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "found.csv").write_text("photo,cluster,probability\nc,1,1\na,0,1\nb,0,1\nd,1,1\nx,0,1\n")
    (tmp_path / "truth.csv").write_text("kind,photo\ncat,a\ncat,b\ndog,c\ncat,d\n,x\nowl,z\n")
    return str(tmp_path / "found.csv"), str(tmp_path / "truth.csv")


def test_rows_are_joined_by_name(tables):
    found = score(*tables)
    assert found.truth.n_rows == 4
    assert found.truth.accuracy == 0.75
    assert found.table == {"cluster": ["1", "0"], "cat": [1, 2], "dog": [1, 0]}
    assert (found.n_only_assigned, found.n_only_true) == (1, 1)
    expected = sl.metrics.normalized_mutual_information(["dog", "cat", "cat", "cat"], [1, 0, 0, 1])
    assert found.truth.information == pytest.approx(expected, abs=1e-12)


def test_rows_without_names_are_counted(tmp_path):
    (tmp_path / "found.csv").write_text("row,cluster\n2,b\n1,a\n")
    (tmp_path / "truth.csv").write_text("species\na\nb\n")
    found = score(str(tmp_path / "found.csv"), str(tmp_path / "truth.csv"))
    assert found.truth.accuracy == 1.0
    assert found.truth.same_names == 1.0
    assert found.is_by_place
    assert any("joined by their place" in sentence for sentence in found.sentences)


def test_rows_that_have_names_are_not_joined_by_their_place(tmp_path):
    """The same rows in another order: joined by place a fifth of them would look right."""
    (tmp_path / "found.csv").write_text("row,photo,cluster\n1,a,0\n2,b,0\n3,c,1\n4,d,1\n")
    (tmp_path / "truth.csv").write_text("photo,kind\nd,dog\nb,cat\nc,dog\na,cat\n")
    pair = str(tmp_path / "found.csv"), str(tmp_path / "truth.csv")
    with pytest.raises(InvalidData, match="both tables name them in 'photo'") as caught:
        score(*pair)
    assert "by='photo'" in str(caught.value)
    joined = score(*pair, by="photo")
    assert joined.truth.accuracy == 1.0
    assert not joined.is_by_place
    assert not any("place:" in sentence for sentence in joined.sentences)


def test_a_truth_with_too_few_rows_is_refused(tmp_path):
    (tmp_path / "found.csv").write_text("row,cluster\n1,0\n7,1\n")
    (tmp_path / "truth.csv").write_text("kind\ncat\ndog\n")
    with pytest.raises(InvalidData, match=r"speaks of row 7, and .* has 2 rows"):
        score(str(tmp_path / "found.csv"), str(tmp_path / "truth.csv"))


@pytest.mark.parametrize(
    ("found", "truth", "message"),
    [
        ("photo,cluster\na,0\na,1\n", "photo,kind\na,x\n", "told apart"),
        ("photo,cluster\na,0\nb,1\n", "photo,kind\nc,x\nd,y\n", "No row"),
        ("photo,cluster\na,0\nb,1\n", "photo,kind\na,\nb,\n", "'kind' .* is empty"),
        ("photo,cluster\na,0\nb,1\n", "picture,kind\na,x\nb,y\n", "has no column 'photo'"),
        ("photo,group\na,0\nb,1\n", "photo,kind\na,x\nb,y\n", "'cluster'"),
        ("photo,cluster\na,0\nb,1\n", "photo,one,two\na,x,1\nb,y,2\n", "several columns"),
    ],
)
def test_what_cannot_be_joined_is_said(tmp_path, found, truth, message):
    (tmp_path / "found.csv").write_text(found)
    (tmp_path / "truth.csv").write_text(truth)
    with pytest.raises(InvalidData, match=message):
        score(str(tmp_path / "found.csv"), str(tmp_path / "truth.csv"))


def test_the_command_prints_json_and_writes_the_cross_table(tables, tmp_path):
    out = tmp_path / "cross.csv"
    content = json.loads(call("score", *tables, "--json", "--out", out))
    assert content["accuracy"] == 0.75
    assert out.read_text().splitlines()[0] == "cluster,cat,dog"
    with pytest.raises(OutputExists):
        call("score", *tables, "--out", out)


def test_runs_side_by_side(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call("sample", "iris", "iris.csv", "--quiet")
    for k in (2, 3):
        call("relations", "iris.csv", "-k", k, "--out", f"k{k}", "--quiet")
    content = json.loads(call("compare", "k2", "k3", "--out", "side", "--json"))
    assert content["runs"]["n_clusters"] == [2, 3]
    agreement = np.array(content["agreement"])
    assert agreement[0, 1] == agreement[1, 0]
    assert 0.3 < agreement[0, 1] <= 1
    assert {"runs.csv", "agreement.csv", "report.html", "run.toml"} == {p.name for p in (tmp_path / "side").iterdir()}
    with pytest.raises(InvalidData, match="twice"):
        call("compare", "k2", "k2")
    (tmp_path / "other.csv").write_bytes((tmp_path / "iris.csv").read_bytes())
    call("relations", "other.csv", "--method", "pck-means", "-k", 2, "--out", "other", "--quiet")
    call("run", "k2", "--out", "again", "--quiet")
    assert "Both found the same clusters." in call("compare", "k2", "again")
    told = call("compare", "k2", "other")
    assert "different tables ('iris.csv' and 'other.csv')" in told
    assert "boundary" not in told  # a setting of one run alone


def test_a_run_is_repeated_from_any_folder_and_a_changed_table_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call("sample", "iris", "iris.csv", "--quiet")
    call("relations", "iris.csv", "-k", 2, "--out", "one", "--quiet")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    content = json.loads(call("run", "../one", "--out", "two", "--json", "--quiet"))
    assert content["table_changed"] is False
    assert (tmp_path / "one/assignments.csv").read_bytes() == (tmp_path / "elsewhere/two/assignments.csv").read_bytes()
    with (tmp_path / "iris.csv").open("a") as handle:
        handle.write((tmp_path / "iris.csv").read_text().splitlines()[1] + "\n")
    content = json.loads(call("run", "two/run.toml", "--out", "three", "--json", "--quiet"))
    assert content["table_changed"] is True
    assert content["versions_changed"] is False


def test_a_run_of_other_code_is_repeated_with_a_word_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call("sample", "iris", "iris.csv", "--quiet")
    call("relations", "iris.csv", "--method", "pck-means", "-k", 2, "--out", "one", "--quiet")
    manifest = tmp_path / "one" / "run.toml"
    now = manifest.read_text()
    assert f'sidelight = "{sl.__version__}"' in now
    manifest.write_text(now.replace(f'sidelight = "{sl.__version__}"', 'sidelight = "0.2.0"'))
    assert f"was made with sidelight 0.2.0 (here {sl.__version__}): the result may differ." in call(
        "run", "one", "--out", "two", notes=True
    )
    manifest.write_text(now.replace(f'numpy = "{np.__version__}"', 'numpy = "1.99"'))
    assert "numpy 1.99" in (told := call("run", "one", "--out", "three", notes=True))
    assert "may differ in its last digits" in told
    content = json.loads(call("run", "one", "--out", "four", "--json", "--quiet"))
    assert content["versions_changed"] is True
    assert content["table_changed"] is False
