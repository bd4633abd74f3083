"""The one door to pyarrow, which reads and writes Parquet."""

from importlib import import_module
from typing import Any


def arrow() -> tuple[Any, Any]:
    """Return the modules ``pyarrow`` and ``pyarrow.parquet``, loaded when they are first needed.

    They cost a process some 40 MB, and most processes never meet Parquet.
    """
    return import_module("pyarrow"), import_module("pyarrow.parquet")
