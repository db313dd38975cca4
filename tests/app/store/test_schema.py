"""The tables as they are declared are those that the migrations make, on every database."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from sidelight.app.store.tables import tables


@pytest.mark.parametrize("name", sorted(tables.tables))
def test_a_declared_table_is_the_table_of_the_database(store, name):
    declared, found = tables.tables[name], sa.inspect(store._engine)
    columns = {column["name"]: column for column in found.get_columns(name)}
    assert list(columns) == [column.name for column in declared.columns]
    primary = set(found.get_pk_constraint(name)["constrained_columns"])
    for column in declared.columns:
        assert column.primary_key == (column.name in primary), column.name
        if not column.primary_key:
            assert column.nullable == columns[column.name]["nullable"], column.name
    links = {(tuple(key["constrained_columns"]), key["referred_table"]) for key in found.get_foreign_keys(name)}
    assert links == {((key.parent.name,), key.column.table.name) for key in declared.foreign_keys}


@pytest.mark.parametrize("name", sorted(tables.tables))
def test_what_is_declared_to_be_unique_is_unique_in_the_database(store, name):
    declared, found = tables.tables[name], sa.inspect(store._engine)
    made = {tuple(sorted(one["column_names"])) for one in found.get_unique_constraints(name)}
    indexes = [one for one in found.get_indexes(name) if not one.get("duplicates_constraint")]
    made |= {tuple(sorted(one["column_names"])) for one in indexes if one["unique"]}
    unique = {(column.name,) for column in declared.columns if column.unique}
    constraints = [one for one in declared.constraints if isinstance(one, sa.UniqueConstraint)]
    unique |= {tuple(sorted(column.name for column in one.columns)) for one in constraints}
    unique |= {tuple(sorted(column.name for column in one.columns)) for one in declared.indexes if one.unique}
    assert made == unique
    assert {one["name"] for one in indexes if not one["unique"]} == {
        one.name for one in declared.indexes if not one.unique
    }
