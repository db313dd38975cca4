"""Tables of a PostgreSQL server: odd types, names, values and addresses, and a server that goes away."""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path

import numpy as np

from attack.outcome import ACCEPTED, REFUSED, judged
from attack.postgres import Server

COUNT = 300
_TYPES = (
    "float8",
    "numeric",
    "bigint",
    "text",
    "boolean",
    "date",
    "timestamptz",
    "jsonb",
    "bytea",
    "text[]",
    "inet",
    "uuid",
    "interval",
    "point",
    "int4range",
    "float8[]",
    "money",
    "bit(3)",
    "xml",
)
_VALUES = {
    "float8": ("1.5", "'NaN'", "'-Infinity'", "1e308"),
    "numeric": ("1e200", "'NaN'", "0.1"),
    "text": ("'x'", "''", "E'\\n'"),
    "bigint": ("9223372036854775807", "-1"),
    "boolean": ("true",),
    "date": ("'infinity'", "'0001-01-01'", "'4000-12-31 BC'"),
    "timestamptz": ("now()", "'-infinity'"),
    "jsonb": ("'{\"a\": [1, {}]}'",),
    "bytea": ("'\\x00ff'",),
    "text[]": ("'{a,b}'",),
    "inet": ("'::1'",),
    "uuid": ("gen_random_uuid()",),
    "interval": ("'178000000 years'",),
    "point": ("'(1,2)'",),
    "int4range": ("'[1,5)'",),
    "float8[]": ("'{1,NaN}'",),
    "money": ("12.5",),
    "bit(3)": ("B'101'",),
    "xml": ("'<a/>'",),
}
_NAMES = ("t", "T", "two words", 'a"b', "x'; DROP TABLE t; --", "ünï", "select", "a::b", "%s", "{x}")
SECRET = "geheimnis"


def attack(number: int, folder: Path) -> str:
    """Make a table, read it, and look whether the password is told."""
    import sidelight as sl

    rng = np.random.default_rng([11, number])
    address = _server().address
    name = str(rng.choice(_NAMES))
    _make(address, name, rng)
    shown = address.replace("studio@", f"studio:{SECRET}@")
    wrong = {
        0: shown.replace("/postgres", "/nowhere"),
        1: shown.replace("127.0.0.1", "nowhere.invalid"),
        2: f"{shown}::",
    }
    asked = wrong.get(int(rng.integers(12)), f"{shown}::{name if rng.random() < 0.9 else 'gone'}")

    def read() -> None:
        try:
            data = sl.read(asked)
        except Exception as error:
            if SECRET in str(error):
                raise AssertionError(f"the password is told: {error}") from None
            raise
        assert SECRET not in repr(data)

    verdict = judged(read)
    return verdict if verdict in (ACCEPTED, REFUSED) else f"{name!r}: {verdict}"


def _make(address: str, name: str, rng: np.random.Generator) -> None:
    import psycopg
    from psycopg import sql

    kinds = [str(kind) for kind in rng.choice(_TYPES, size=int(rng.integers(1, 5)))]
    columns = [(sql.Identifier(f"c{i} {kind[:4]}"), kind) for i, kind in enumerate(kinds)]
    described = sql.SQL(", ").join(sql.SQL("{} {}").format(column, sql.SQL(kind)) for column, kind in columns)
    table = sql.Identifier(name)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table))
        connection.execute(sql.SQL("CREATE TABLE {} ({})").format(table, described))
        for _ in range(int(rng.integers(0, 12))):
            values = [str(rng.choice(_VALUES[kind])) if rng.random() < 0.9 else "NULL" for kind in kinds]
            casts = sql.SQL(", ").join(sql.SQL(f"({value})::{kind}") for value, kind in zip(values, kinds))
            connection.execute(sql.SQL("INSERT INTO {} VALUES ({})").format(table, casts))


@cache
def _server() -> Server:
    """Start one server for all cases of this process."""
    server = Server().__enter__()
    atexit.register(server.__exit__)
    return server
