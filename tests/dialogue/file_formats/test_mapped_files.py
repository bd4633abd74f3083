"""With a column mapping no row of a file is recognised: each goes through the mapping."""

import io

from apps.dialogue.column_mapping import parse_mapping
from apps.dialogue.file_formats import read_tasks

MAPPING = parse_mapping({
    "key": "ticket",
    "conversation": [
        {"role": "system", "content": "You answer customers of {{ shop }}."},
        {"role": "user", "content": "asked"},
    ],
    "attributes": ["shop"],
})  # fmt: skip


def test_rows_of_tables_and_of_json_go_through_the_mapping() -> None:
    table = "ticket,shop,asked,note\n7,Lamps,Where?,=x\n8,,,\n"
    rows = list(read_tasks(io.BytesIO(table.encode()), file_name="t.csv", mapping=MAPPING))
    assert (rows[0].line, rows[0].format, rows[0].roles) == (2, "csv_table", "su")
    assert rows[0].task is not None
    assert (rows[0].task.key, rows[0].task.attributes) == ("7", {"shop": "Lamps"})
    assert rows[0].task.messages[0].text == "You answer customers of Lamps."
    lines = '{"ticket": "9", "shop": "s", "asked": "q", "messages": "not read"}\nbroken\n{}\n[]'
    rows = list(read_tasks(io.BytesIO(lines.encode()), mapping=MAPPING))
    assert [row.task.key if row.task else None for row in rows] == ["9", None, None, None]
    assert [row.line for row in rows] == [1, 2, 3, 4]
