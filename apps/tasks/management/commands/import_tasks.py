"""`manage.py import_tasks FILE --environment P/E`: a file of rows becomes tasks."""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from apps.accounts.actions import create_project
from apps.accounts.errors import NotFound, Refusal
from apps.accounts.models import Project
from apps.accounts.permissions import OPERATOR
from apps.accounts.queries import get_project
from apps.dialogue.errors import DialogueError
from apps.dialogue.file_formats import AUTO, FORMATS
from apps.dialogue.solver.documents import read_document
from apps.tasks.actions import (
    ImportLedger,
    LedgerLine,
    create_environment,
    create_split,
    import_file,
    rehearse_import,
)
from apps.tasks.models import Environment, Split
from apps.tasks.queries import get_environment, get_split, splits


class Command(BaseCommand):
    help = (
        "Import tasks from a file (- is standard input) and print the ledger: what was kept, "
        "converted, invented, dropped and refused. Exits 1 if any line was refused. Importing "
        "the same file again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", help="JSON, JSON Lines, CSV, Parquet, ZIP, text, gzip; - is standard input"
        )
        parser.add_argument("--environment", required=True, help="project/environment")
        parser.add_argument("--split", default="", help="default: the environment's only split")
        parser.add_argument("--format", default=AUTO, help=f"{AUTO}, {', '.join(FORMATS)}")
        parser.add_argument(
            "--mapping", default="", help="a column mapping (YAML or JSON) for every row"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="print the ledger and keep nothing"
        )
        parser.add_argument(
            "--create",
            action="store_true",
            help="make the project, the environment and the split (default: test) if need be",
        )
        parser.add_argument(
            "--update",
            action="store_true",
            help="save rows with a known key and other content as new revisions",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["file"] == "-":
                if sys.stdin is None:
                    raise CommandError("Standard input is closed.")
                ledger = self._import(sys.stdin.buffer, "standard input", options)
            else:
                with Path(options["file"]).open("rb") as stream:
                    ledger = self._import(stream, options["file"], options)
        except BrokenPipeError:
            raise CommandError("Standard output was closed before the end.") from None
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}") from None
        except (Refusal, DialogueError) as refusal:
            raise CommandError(refusal.message) from None
        if ledger.refused:
            sys.exit(1)

    def _import(self, stream: BinaryIO, name: str, options: dict[str, Any]) -> ImportLedger:
        # What --create makes for a dry run is taken back with it; else nothing is held meanwhile.
        makes = options["dry_run"] and options["create"]
        with _taken_back() if makes else nullcontext():
            return self._import_to(*_destination(options), stream, name, options)

    def _import_to(
        self,
        environment: Environment,
        split: Split,
        stream: BinaryIO,
        name: str,
        options: dict[str, Any],
    ) -> ImportLedger:
        mapping = _mapping(options["mapping"]) if options["mapping"] else None
        dry_run = options["dry_run"]
        report = _Report(self, everything=options["verbosity"] > 1)
        where = f"{environment.project.slug}/{environment.slug}"
        told = " (nothing is kept)" if dry_run else ""
        self.stdout.write(f"{name} -> {where}, split {split.name}{told}")
        run = rehearse_import if dry_run else import_file
        ledger = run(
            actor=OPERATOR,
            environment=environment,
            split=split,
            stream=stream,
            file_name=Path(name).name,
            format=options["format"],
            mapping=mapping,
            update=options["update"],
            on_line=report.line,
        )
        report.summary(ledger)
        return ledger


class _Report:
    """The ledger on paper: refusals line by line, what happened to many rows once with a count."""

    def __init__(self, command: BaseCommand, *, everything: bool) -> None:
        self.command = command
        self.everything = everything
        self.rows: Counter[tuple[str, str, str]] = Counter()
        self.first: dict[tuple[str, str, str], str] = {}

    def line(self, line: LedgerLine) -> None:
        if self.everything:
            self._write(f"line {line.line}: {line.outcome} {line.key or ''}".rstrip())
        for note in line.notes:
            told = f"{note.place}: {note.message}" if note.place else note.message
            if note.kind == "refused":
                self._write(f"  refused    line {line.line}: {told}")
                continue
            if self.everything:
                self._write(f"  {note.kind:<10} line {line.line}: {told}")
            place = re.sub(r"\d+", "", note.place)  # messages[3] and messages[5] are alike
            kind = (note.kind, place, note.code or note.message)
            self.rows[kind] += 1
            self.first.setdefault(kind, f"line {line.line}: {told}")

    def summary(self, ledger: ImportLedger) -> None:
        for kind, rows in self.rows.items():
            many = "1 row, " if rows == 1 else f"{rows} rows, first "
            self._write(f"  {kind[0]:<10} {many}{self.first[kind]}")
        self._write(
            f"{ledger.read} rows: {ledger.created} created, {ledger.updated} updated, "
            f"{ledger.unchanged} unchanged, {ledger.refused} refused"
            + (f"; {ledger.drafts} of them drafts" if ledger.drafts else "")
        )
        number = ledger.number
        if number is not None and (ledger.created or ledger.updated):
            self._write(f"Import {number}; manage.py undo_import {number} takes it back.")

    def _write(self, text: str) -> None:
        self.command.stdout.write(text)


@contextmanager
def _taken_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def _mapping(name: str) -> dict[str, Any]:
    """The column mapping in that file, as plain data."""
    try:
        value = read_document(Path(name).read_text(encoding="utf-8"))
    except (DialogueError, UnicodeDecodeError) as error:
        raise CommandError(f"{name} is not YAML or JSON: {error}") from None
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}") from None
    if not isinstance(value, dict):
        raise CommandError(f"{name} holds no column mapping: it has to be an object.")
    return value


@transaction.atomic
def _destination(options: dict[str, Any]) -> tuple[Environment, Split]:
    owner, slash, slug = options["environment"].partition("/")
    if not slash or not owner or not slug:
        raise CommandError("--environment takes project/environment.")
    create = options["create"]
    project = _project(owner, create=create)
    try:
        environment = get_environment(OPERATOR, project, slug)
    except NotFound:
        if not create:
            raise
        environment = create_environment(actor=OPERATOR, project=project, slug=slug)
    return environment, _split(environment, options["split"], create=create)


def _project(slug: str, *, create: bool) -> Project:
    try:
        return get_project(OPERATOR, slug)
    except NotFound:
        if not create:
            raise
        return create_project(actor=OPERATOR, slug=slug)


def _split(environment: Environment, name: str, *, create: bool) -> Split:
    there = splits(OPERATOR, environment)
    if not name and len(there) == 1:
        return there[0]
    if not name and (there or not create):
        known = ", ".join(split.name for split in there) or "none yet"
        raise CommandError(f"Which split? --split takes one of: {known}.")
    name = name or "test"
    try:
        return get_split(OPERATOR, environment, name)
    except NotFound:
        if not create:
            raise
        return create_split(actor=OPERATOR, environment=environment, name=name)
