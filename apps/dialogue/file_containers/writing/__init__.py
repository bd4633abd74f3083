"""Rows become the bytes of a file, as they come: the other way round of the containers.

A new container is one module here and one entry in ``WRITERS``.
"""

from typing import Final

from apps.dialogue.file_containers.writing.base import RowWriter, Sink, Written
from apps.dialogue.file_containers.writing.csv_table import CsvWriter
from apps.dialogue.file_containers.writing.json_lines import JsonLinesWriter
from apps.dialogue.file_containers.writing.parquet_table import ParquetWriter

WRITERS: Final[dict[str, Written]] = {
    each.name: each
    for each in (
        Written("jsonl", ".jsonl", "application/x-ndjson", JsonLinesWriter),
        Written("csv", ".csv", "text/csv; charset=utf-8", CsvWriter, streams=False),
        Written(
            "parquet",
            ".parquet",
            "application/vnd.apache.parquet",
            ParquetWriter,
            streams=False,
        ),
    )
}

__all__ = ["WRITERS", "RowWriter", "Sink", "Written"]
