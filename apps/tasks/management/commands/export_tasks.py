"""`manage.py export_tasks P/E --format F`: tasks as a file, on standard output."""

import sys
from typing import Any, BinaryIO, cast

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts.errors import Refusal
from apps.accounts.permissions import OPERATOR
from apps.accounts.queries import get_project
from apps.dialogue.file_formats import ALIASES
from apps.tasks.exporting import (
    CANONICAL,
    EXPORT_FORMATS,
    ON_LOSS,
    Export,
    LossLine,
    prepare_export,
)
from apps.tasks.models import TaskStatus
from apps.tasks.queries import get_environment


class Command(BaseCommand):
    help = (
        "Write tasks to standard output, in a format that people take. What the format cannot "
        "carry is listed on standard error, task by task; exits 1 if a task was refused for it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("environment", help="project/environment")
        parser.add_argument("--split", help="default: all splits")
        parser.add_argument(
            "--status", choices=TaskStatus.values, help="default: all but the archived"
        )
        parser.add_argument(
            "--format",
            default=CANONICAL,
            help=f"{', '.join(EXPORT_FORMATS)}; other words for them: {', '.join(ALIASES)} "
            f"(default: {CANONICAL})",
        )
        parser.add_argument(
            "--on-loss",
            default="refuse",
            choices=ON_LOSS,
            help="a task that the format cannot carry whole is refused (the default), or what it "
            "cannot carry is left out",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            export = _prepared(options)
        except Refusal as refusal:
            raise CommandError(refusal.message) from None
        try:
            self._write(export)
        except BrokenPipeError:
            raise CommandError("Standard output was closed before the end.") from None

    def _write(self, export: Export) -> None:
        output = cast(BinaryIO, self.stdout.buffer)
        if export.format.name == "parquet" and output.isatty():
            raise CommandError("Parquet is no text: send it to a file (> tasks.parquet).")
        report = export.write(output, on_loss_line=self._tell)
        output.flush()
        summary = f"{report.tasks} tasks: {report.rows} rows written as {export.format.name}"
        if report.losses:
            summary += f", {report.losses} losses, {report.refused} tasks not written"
        self.stderr.write(summary, self.style.NOTICE)
        if report.refused and export.on_loss == "refuse":
            sys.exit(1)

    def _tell(self, loss: LossLine) -> None:
        place = f"{loss.place}: " if loss.place else ""
        self.stderr.write(f"task {loss.key}: {place}{loss.message}")


def _prepared(options: dict[str, Any]) -> Export:
    owner, slash, slug = options["environment"].partition("/")
    if not slash or not owner or not slug:
        raise CommandError("Which tasks? Name project/environment.")
    return prepare_export(
        OPERATOR,
        get_environment(OPERATOR, get_project(OPERATOR, owner), slug),
        format=options["format"],
        split=options["split"],
        status=options["status"],
        on_loss=options["on_loss"],
    )
