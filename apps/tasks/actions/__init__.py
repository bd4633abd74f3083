"""Changing environments and tasks: one function a change, whoever asks."""

from apps.tasks.actions.bundles import BundleReport, load_bundle, owner_of
from apps.tasks.actions.environments import (
    ToolDraft,
    create_environment,
    create_split,
    set_tools,
    update_environment,
)
from apps.tasks.actions.exports import create_export, discard_export
from apps.tasks.actions.importing import ImportLedger, import_file, import_rows, rehearse_import
from apps.tasks.actions.imports import (
    KEEP,
    accept_import,
    change_import,
    discard_import,
    propose_import,
    undo_import,
)
from apps.tasks.actions.tasks import (
    archive_task,
    create_task,
    move_task,
    rename_task,
    restore_revision,
    save_revision,
    set_status,
)
from apps.tasks.ledgers import LedgerLine

__all__ = [
    "KEEP",
    "BundleReport",
    "ImportLedger",
    "LedgerLine",
    "ToolDraft",
    "accept_import",
    "archive_task",
    "change_import",
    "create_environment",
    "create_export",
    "create_split",
    "create_task",
    "discard_export",
    "discard_import",
    "import_file",
    "import_rows",
    "load_bundle",
    "move_task",
    "owner_of",
    "propose_import",
    "rehearse_import",
    "rename_task",
    "restore_revision",
    "save_revision",
    "set_status",
    "set_tools",
    "undo_import",
    "update_environment",
]
