"""The tables of environments and tasks, and of imports and exports."""

from apps.tasks.models.tasks import (
    Environment,
    Revision,
    Split,
    SplitType,
    Task,
    TaskStatus,
    TaskText,
    Tool,
    ToolKind,
)
from apps.tasks.models.transfers import (
    OPEN_IMPORTS,
    Export,
    ExportState,
    Import,
    ImportState,
    Transfer,
)

__all__ = [
    "OPEN_IMPORTS",
    "Environment",
    "Export",
    "ExportState",
    "Import",
    "ImportState",
    "Revision",
    "Split",
    "SplitType",
    "Task",
    "TaskStatus",
    "TaskText",
    "Tool",
    "ToolKind",
    "Transfer",
]
