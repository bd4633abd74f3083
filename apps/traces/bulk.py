"""Many rows in one statement, with each field's own way of being stored."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import Model


def update_each(
    model: type[Model], *, match: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Set different values on different rows: one prepared statement, all rows in one go.

    Every mapping has the same attribute names (``trace_id``, not ``trace``); those in ``match`` say
    which row is meant, the others are set. A row that does not exist is passed over.
    """
    if not rows:
        return
    fields = {field.attname: field for field in model._meta.concrete_fields}
    changed = [name for name in rows[0] if name not in match]
    quote = connection.ops.quote_name
    sets = ", ".join(f"{quote(str(fields[name].column))} = %s" for name in changed)
    where = " AND ".join(f"{quote(str(fields[name].column))} = %s" for name in match)
    statement = f"UPDATE {quote(model._meta.db_table)} SET {sets} WHERE {where}"  # noqa: S608
    names = (*changed, *match)
    prepared = [
        [fields[name].get_db_prep_save(row[name], connection) for name in names] for row in rows
    ]
    with connection.cursor() as cursor:
        cursor.executemany(statement, prepared)
