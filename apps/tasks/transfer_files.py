"""Where the files of imports and exports lie: a folder each in the installation's state."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

from apps.accounts.errors import DiskFull, Invalid, is_disk_full
from apps.tasks.ledgers import Ledger
from apps.tasks.models import Export, Import
from apps.tasks.private_folders import make_private

LARGEST_FILE = 8 * 2**30


def import_folder(pk: int) -> Path:
    return Path(settings.VAR) / "imports" / f"import-{pk}"


def export_folder(pk: int) -> Path:
    return Path(settings.VAR) / "exports" / f"export-{pk}"


def held_file(imported: Import) -> Path:
    """What was brought, byte for byte."""
    return import_folder(imported.pk) / "file"


def proposal_of(imported: Import) -> Ledger:
    """The ledger of what would come of the file."""
    return Ledger(import_folder(imported.pk) / "proposal")


def unfinished_proposal(imported: Import) -> Path:
    """Where the holder of this claim writes a proposal until it is whole."""
    return import_folder(imported.pk) / f"proposal-{imported.claim}"


def ledger_of(imported: Import) -> Ledger:
    """The ledger of what has come of it."""
    return Ledger(import_folder(imported.pk) / "ledger")


def export_file(exported: Export) -> Path:
    return export_folder(exported.pk) / "file"


def losses_file(exported: Export) -> Path:
    """A JSON line for every loss."""
    return export_folder(exported.pk) / "losses.jsonl"


def hold(path: Path, pieces: Iterable[bytes]) -> int:
    """Keep ``pieces`` at ``path``; answers how many bytes they were.

    Raises `Invalid` if they are too many and `DiskFull` if there is no room; then nothing stays.
    """
    try:
        make_private(path.parent)
        return _written(path, pieces)
    except BaseException as error:
        # At once: until it is gone, a full disk lets nobody write anything, not even to a table.
        path.unlink(missing_ok=True)
        if is_disk_full(error):
            raise DiskFull(place="file") from error
        raise


def _written(path: Path, pieces: Iterable[bytes]) -> int:
    size = 0
    with path.open("wb") as file:
        for piece in pieces:
            size += len(piece)
            if size > LARGEST_FILE:
                raise Invalid(f"The file has more than {LARGEST_FILE // 2**30} GB.", place="file")
            file.write(piece)
    return size


def forget_import(pk: int) -> None:
    """Remove everything that is kept of an import."""
    shutil.rmtree(import_folder(pk), ignore_errors=True)


def forget_proposal(imported: Import) -> None:
    """Remove what an import needs until it is written; the ledger of that stays."""
    held_file(imported).unlink(missing_ok=True)
    for folder in import_folder(imported.pk).glob("proposal*"):
        shutil.rmtree(folder, ignore_errors=True)


def forget_export(pk: int) -> None:
    shutil.rmtree(export_folder(pk), ignore_errors=True)


def remove_orphans(folder: str, prefix: str, model: type[Import] | type[Export]) -> None:
    """Remove the folders of imports or exports whose row is gone, with its environment mostly."""
    root = Path(settings.VAR) / folder
    numbers = {path.name.removeprefix(prefix): path for path in root.glob(f"{prefix}*")}
    paths = {int(number): path for number, path in numbers.items() if number.isdecimal()}
    there = set(model._default_manager.filter(pk__in=paths).values_list("pk", flat=True))
    for pk, path in paths.items():
        if pk not in there:
            shutil.rmtree(path, ignore_errors=True)
