"""Tables of a server: read in blocks, read only, and the password is nowhere."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import sidelight as sl
from sidelight.app.cli.app import app
from sidelight.app.jobs.config import RunConfig
from sidelight.errors import UnknownName, UnreadableFile
from sidelight.files.source import Source, without_password

psycopg = pytest.importorskip("psycopg", reason="a server's tables need the extra postgres")
pytest.importorskip("sqlalchemy", reason="a server's tables need the extra postgres")
SECRET = "geheim%2Fnis"


@pytest.fixture(scope="module")
def server(postgres):
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS field CASCADE; CREATE SCHEMA field")
        connection.execute("DROP TABLE IF EXISTS birds; CREATE TABLE birds (id bigint, size numeric(8, 2), day date)")
        connection.execute(
            "INSERT INTO birds SELECT k, k * 0.25 + (k % 3) * 40, date '2024-01-01' + k "
            "FROM generate_series(1, 25000) k"
        )
        connection.execute("CREATE TABLE field.calls (call text, low float8, high float8, tags text[])")
        connection.execute(
            "INSERT INTO field.calls SELECT 'c' || k, sin(k), cos(k), ARRAY['wren', 'owl'] "
            "FROM generate_series(1, 30) k"
        )
    return postgres


def with_password(address):
    return address.replace("studio@", f"studio:{SECRET}@")


def test_a_table_of_a_server_is_read(server):
    data = sl.read(f"{server}::birds")
    assert data.n_rows == 25_000
    assert data.feature_names == ("size",)
    assert data.X[0, 0] == 40.25
    assert data.row_names[0] in (1, "1")
    assert sl.read(f"{server}::field.calls").n_rows == 30


def test_a_query_may_be_in_a_file_and_cannot_write(server, tmp_path):
    query = tmp_path / "q.sql"
    query.write_text("SELECT id, size FROM birds WHERE id <= 10;")
    assert sl.read(f"{server}::{query}").n_rows == 10
    query.write_text("WITH gone AS (DELETE FROM birds RETURNING *) SELECT * FROM gone")
    with pytest.raises(UnreadableFile, match="cannot be read"):
        sl.read(f"{server}::{query}")
    assert sl.read(f"{server}::birds").n_rows == 25_000


def test_what_is_not_there_is_one_message_without_the_password(server):
    with pytest.raises(UnknownName, match="birds"):
        sl.read(f"{server}::birdz")
    away = f"postgresql://studio:{SECRET}@127.0.0.1:9/none::t"
    with pytest.raises(UnreadableFile) as refused:
        sl.read(away)
    assert "geheim" not in str(refused.value)
    assert "127.0.0.1" in str(refused.value)


def test_the_password_is_neither_printed_nor_written(server, tmp_path):
    address = f"{with_password(server)}::birds"
    told = CliRunner().invoke(app, ["describe", address])
    assert told.exit_code == 0, told.output
    assert "sidelight cluster" in told.output
    out = tmp_path / "results"
    done = CliRunner().invoke(app, ["relations", f"{with_password(server)}::field.calls", "-k", "2", "--out", str(out)])
    assert done.exit_code == 0, done.output
    written = [path.read_bytes() for path in out.iterdir()]
    for text in (told.output.encode(), done.output.encode(), *written):
        assert b"geheim" not in text
    assert "::field.calls" in (out / "run.toml").read_text()
    again = RunConfig.from_toml(out / "run.toml")
    assert again.source.address == server


def test_passwords_are_cut_out_of_addresses():
    address, password = without_password("postgresql://me:a%40b@host:5/db?sslmode=require&password=x")
    assert (address, password) == ("postgresql://me@host:5/db?sslmode=require", "a@b")
    source = Source("postgresql://me:pw@host/db::t")
    assert (source.given, str(source.path), source.part) == (
        "postgresql://me@host/db::t",
        "postgresql://me@host/db",
        "t",
    )
    assert "pw" not in repr(source)
