"""A PostgreSQL of our own, as for the studio's store."""

from tests.app.store.conftest import postgres, postgres_server

__all__ = ["postgres", "postgres_server"]
