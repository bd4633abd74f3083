"""`manage.py create_endpoint P KEY --base-url U --model M`: a model endpoint."""

import json
import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts.errors import Refusal
from apps.accounts.permissions import OPERATOR
from apps.accounts.queries import get_project
from apps.providers.actions import EndpointSettings, create_endpoint
from apps.providers.models import Api


class Command(BaseCommand):
    help = "Make a model endpoint. Its secret is read from an environment variable, never typed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="the project's slug")
        parser.add_argument("key", help="what the endpoint is called in this project")
        parser.add_argument(
            "--base-url", required=True, help="https://host/v1, or demo for the scripted endpoint"
        )
        parser.add_argument("--model", required=True, help="the model's name at its provider")
        parser.add_argument(
            "--api", default=Api.CHAT_COMPLETIONS.value, choices=Api.values, help="which API"
        )
        parser.add_argument(
            "--secret-env", default="", metavar="VAR", help="the variable that holds the secret"
        )
        parser.add_argument(
            "--parameters", default="{}", metavar="JSON", help="sent with every request"
        )
        parser.add_argument("--timeout", type=float, default=60, help="seconds for one call")
        parser.add_argument("--max-retries", type=int, default=0, help="resends of a failed call")
        parser.add_argument(
            "--max-concurrent-requests", type=int, default=None, help="by one worker process"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        settings: EndpointSettings = {
            "base_url": options["base_url"],
            "model": options["model"],
            "api": options["api"],
            "parameters": _json(options["parameters"]),
            "timeout_seconds": options["timeout"],
            "max_retries": options["max_retries"],
            "max_concurrent_requests": options["max_concurrent_requests"],
        }
        try:
            made = create_endpoint(
                actor=OPERATOR,
                project=get_project(OPERATOR, options["project"]),
                key=options["key"],
                secret=_secret(options["secret_env"]),
                **settings,
            )
        except Refusal as refusal:
            place = f"{refusal.place}: " if refusal.place else ""
            raise CommandError(f"{place}{refusal.message}") from None
        self.stdout.write(f"{made.project.slug}: model endpoint {made.key} -> {made.base_url}")


def _secret(variable: str) -> str:
    if not variable:
        return ""
    secret = os.environ.get(variable, "")
    if not secret:
        raise CommandError(f"--secret-env: the variable {variable} is not set or empty.")
    return secret


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise CommandError(f"--parameters is not JSON: {error}") from None
