"""`manage.py create_api_key P --name N [--scopes ...]`: a new key, alone, on standard output."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts.actions import create_api_key
from apps.accounts.errors import Refusal
from apps.accounts.models import Scope
from apps.accounts.permissions import OPERATOR
from apps.accounts.queries import get_project


class Command(BaseCommand):
    help = "Make an API key and print it; it is stored hashed and cannot be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="the project's slug")
        parser.add_argument("--name", required=True, help="what the key is for")
        parser.add_argument(
            "--scopes",
            nargs="+",
            default=[Scope.HARNESS.value],
            metavar="SCOPE",
            help=f"one or more of {', '.join(Scope.values)}, apart by spaces or commas "
            "(default: harness)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        scopes = [word for text in options["scopes"] for word in text.split(",") if word]
        try:
            made = create_api_key(
                actor=OPERATOR,
                project=get_project(OPERATOR, options["project"]),
                name=options["name"],
                scopes=scopes,
            )
        except Refusal as refusal:
            raise CommandError(refusal.message) from None
        self.stdout.write(made.secret)
