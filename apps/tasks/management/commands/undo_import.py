"""`manage.py undo_import ID`: what an import wrote is taken back."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts.errors import Refusal
from apps.accounts.permissions import OPERATOR
from apps.tasks.actions import undo_import
from apps.tasks.models import Import


class Command(BaseCommand):
    help = (
        "Take back what an import wrote: tasks it made are removed, or archived if a session, a "
        "run or a later revision points at them; tasks it changed get back what they held before."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("import", type=int, help="the number that import_tasks printed")

    def handle(self, *args: Any, **options: Any) -> None:
        number = options["import"]
        found = Import.objects.select_related("environment__project").filter(pk=number).first()
        if found is None:
            raise CommandError(f"There is no import {number}.")
        try:
            row = undo_import(actor=OPERATOR, imported=found)
        except Refusal as refusal:
            raise CommandError(refusal.message) from None
        if row.is_open:
            self.stdout.write(f"Import {number} is being undone by a worker.")
            return
        if row.error:
            raise CommandError(row.error)
        self.stdout.write(
            f"Import {number} is undone: {row.removed} tasks removed, {row.archived} archived, "
            f"{row.restored} restored, {row.left} left as somebody has changed them since."
        )
