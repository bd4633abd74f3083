"""`manage.py load_bundle FILE [--project P]`: whole environments from one file."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from apps.accounts.actions import create_project
from apps.accounts.errors import NotFound, Refusal
from apps.accounts.models import Project
from apps.accounts.permissions import OPERATOR
from apps.accounts.queries import get_project
from apps.tasks.actions import BundleReport, load_bundle, owner_of


class Command(BaseCommand):
    help = (
        "Load environments (splits, tools, graders, tasks) from a bundle. The project is made if "
        "it is not there. Loading a bundle again changes nothing; a wrong one changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a JSON file that dump_bundle could have made")
        parser.add_argument("--project", default="", help="default: the bundle's owner")

    def handle(self, *args: Any, **options: Any) -> None:
        bundle = _read(options["file"])
        try:
            slug, report = _load(bundle, options["project"])
        except Refusal as refusal:
            where = f"{options['file']}: {refusal.place}: " if refusal.place else ""
            raise CommandError(f"{where}{refusal.message}") from None
        names = ", ".join(f"{slug}/{name}" for name in report.environments)
        self.stdout.write(
            f"{names}: {report.created} tasks created, {report.updated} updated, "
            f"{report.unchanged} unchanged"
        )


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes(), object_pairs_hook=_once_each)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{path}: cannot be read as JSON: {error}") from None


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; the last of two same keys would win without a word."""
    made = dict(pairs)
    if len(made) < len(pairs):
        key = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {key!a} is there twice in one object")
    return made


@transaction.atomic
def _load(bundle: Any, named: str) -> tuple[str, BundleReport]:
    slug = named or owner_of(bundle)
    project = _project(slug)
    return slug, load_bundle(actor=OPERATOR, project=project, bundle=bundle)


def _project(slug: str) -> Project:
    try:
        return get_project(OPERATOR, slug)
    except NotFound:
        return create_project(actor=OPERATOR, slug=slug)
