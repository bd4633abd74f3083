"""Moments as the databases have them in statements that are written by hand."""

from datetime import UTC, datetime
from typing import Any

from django.db import connection


def to_column(moment: datetime) -> Any:
    """``moment`` as a parameter: text for SQLite, itself for PostgreSQL."""
    return connection.ops.adapt_datetimefield_value(moment)


def from_column(value: Any) -> datetime:
    """A column's moment: SQLite hands out text or a naive one, PostgreSQL an aware one."""
    read: datetime = datetime.fromisoformat(value) if isinstance(value, str) else value
    return read if read.tzinfo is not None else read.replace(tzinfo=UTC)


def from_column_or_none(value: Any) -> datetime | None:
    return None if value is None else from_column(value)
