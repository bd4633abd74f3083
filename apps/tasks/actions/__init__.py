"""Changing environments and tasks: one function a change, whoever asks."""

from apps.tasks.actions.bundles import BundleReport, load_bundle, owner_of
from apps.tasks.actions.environments import (
    ToolDraft,
    create_environment,
    create_split,
    set_tools,
    update_environment,
)
from apps.tasks.actions.importing import ImportLedger, LedgerLine, import_rows
from apps.tasks.actions.tasks import (
    archive_task,
    create_task,
    move_task,
    rename_task,
    restore_revision,
    save_revision,
    set_status,
)

__all__ = [
    "BundleReport",
    "ImportLedger",
    "LedgerLine",
    "ToolDraft",
    "archive_task",
    "create_environment",
    "create_split",
    "create_task",
    "import_rows",
    "load_bundle",
    "move_task",
    "owner_of",
    "rename_task",
    "restore_revision",
    "save_revision",
    "set_status",
    "set_tools",
    "update_environment",
]
