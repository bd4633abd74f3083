"""The operator's settings are read by type, and nonsense is refused by name."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from apps.config import environment
from apps.config.environment import Environment


def test_a_port_that_is_no_port_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "http")
    with pytest.raises(ValidationError, match="port"):
        Environment()


def test_an_unknown_log_level_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_LEVEL", "LOUD")
    with pytest.raises(ValidationError, match="log_level"):
        Environment()


def test_debug_has_three_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEBUG", raising=False)
    assert Environment().local is True
    monkeypatch.setenv("DEBUG", "1")
    assert Environment().debug is True
    monkeypatch.setenv("DEBUG", "0")
    assert Environment().local is False


def test_sqlite_is_the_default_database_and_lives_under_var(tmp_path: Path) -> None:
    entry = environment.database("", tmp_path)
    assert entry["NAME"] == str(tmp_path / "turnwright.sqlite3")
    assert "journal_mode=WAL" in entry["OPTIONS"]["init_command"]
    assert entry["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("sqlite:////srv/data/t.sqlite3", "/srv/data/t.sqlite3"),
        ("sqlite:///t.sqlite3", "t.sqlite3"),
    ],
)
def test_a_sqlite_address_has_three_slashes_and_then_the_path(
    url: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "mkdir", lambda *_, **__: None)
    assert environment.database(url, tmp_path)["NAME"] == name


def test_a_postgresql_address_is_taken_apart(tmp_path: Path) -> None:
    entry = environment.database("postgresql://ada:p%40ss@db:5433/turns?sslmode=require", tmp_path)
    assert (entry["USER"], entry["PASSWORD"], entry["HOST"], entry["PORT"], entry["NAME"]) == (
        "ada", "p@ss", "db", "5433", "turns",
    )  # fmt: skip
    assert entry["OPTIONS"] == {"sslmode": "require"}


def test_another_database_is_refused_with_its_variable(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"DATABASE_URL.*mysql"):
        environment.database("mysql://x/y", tmp_path)


def test_the_broker_is_the_one_given_else_the_embedded_one_that_runs(tmp_path: Path) -> None:
    assert environment.broker("amqp://guest@host//", tmp_path) == "amqp://guest@host//"
    assert environment.broker("", tmp_path) == ""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "broker-url").write_text("redis://:x@127.0.0.1:1/0")
    assert environment.broker("", tmp_path) == "redis://:x@127.0.0.1:1/0"


def test_an_unknown_broker_or_cache_is_refused_with_its_variable(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="CELERY_BROKER_URL"):
        environment.broker("kafka://x", tmp_path)
    with pytest.raises(ValueError, match="CACHE_URL"):
        environment.cache("memcached://x")


def test_local_secrets_are_made_once_and_only_readable_by_their_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEBUG", raising=False)
    monkeypatch.setenv("TURNWRIGHT_VAR", str(tmp_path))
    first = Environment().secret("a-key", "", lambda: "made")
    second = Environment().secret("a-key", "", lambda: "made again")
    assert first == second == "made"
    assert (tmp_path / "secrets" / "a-key").stat().st_mode & 0o077 == 0


def test_production_makes_no_secret_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBUG", "0")
    monkeypatch.setenv("TURNWRIGHT_VAR", str(tmp_path))
    assert Environment().secret("a-key", "", lambda: "made") == ""
    assert not (tmp_path / "secrets").exists()
