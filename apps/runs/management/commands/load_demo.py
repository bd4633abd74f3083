"""`manage.py load_demo`: the demo project, the first person and the first key."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.errors import Refusal
from apps.runs.demo import make_demo


class Command(BaseCommand):
    help = (
        "Make what is missing of the demo project, and print the login and the API key if they "
        "are new. Nothing that is there is changed."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            welcome = make_demo()
        except Refusal as refusal:
            raise CommandError(f"The demo cannot be made: {refusal.message}") from None
        for line in welcome.lines():
            self.stdout.write(line)
        if welcome.made:
            self.stdout.write(f"Loaded the demo: {', '.join(welcome.made)}.")
        if welcome.warning:
            self.stderr.write(welcome.warning)
