"""`manage.py dump_bundle P/E`: an environment as a bundle, on standard output."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts.errors import Refusal
from apps.accounts.permissions import OPERATOR
from apps.accounts.queries import get_project
from apps.tasks.queries import bundle_of, get_environment


class Command(BaseCommand):
    help = "Write an environment as a bundle: load_bundle makes it again, anywhere."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("environment", help="project/environment")

    def handle(self, *args: Any, **options: Any) -> None:
        owner, _, slug = options["environment"].partition("/")
        try:
            project = get_project(OPERATOR, owner)
            bundle = bundle_of(OPERATOR, get_environment(OPERATOR, project, slug))
        except Refusal as refusal:
            raise CommandError(refusal.message) from None
        self.stdout.write(json.dumps(bundle, ensure_ascii=False, indent=1))
