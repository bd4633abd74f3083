"""`manage.py up`: everything Turnwright needs, in one terminal."""

import os
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.config import embedded_broker
from apps.config.embedded_broker import NoBroker
from apps.config.settings import ENV
from apps.config.supervisor import Supervisor

# On one's own machine, or in a container, being root is the owner's business.
NO_ROOT_LECTURE = {"PYTHONWARNINGS": "ignore:You're running the worker with superuser"}


class Command(BaseCommand):
    help = "Migrate, load the demo project on first start, and run broker, worker, web and beat."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--without-demo", action="store_true", help="load no demo project")

    def handle(self, *args: Any, **options: Any) -> None:
        self._check_port()
        call_command("migrate", verbosity=0, interactive=False)
        call_command("collectstatic", verbosity=0, interactive=False)
        if not options["without_demo"]:
            call_command("load_demo", stdout=self.stdout)
        supervisor = Supervisor(say=self.stderr.write)
        try:
            environment = self._start_broker(supervisor)
            supervisor.add("worker", worker_command(), {**environment, **NO_ROOT_LECTURE})
            supervisor.add("web", web_command(), environment)
            supervisor.wait_until(web_answers, what="The web server", seconds=60)
            if not supervisor.stopping:
                supervisor.add("beat", beat_command(), environment)
                self._welcome()
            supervisor.watch()
        finally:
            supervisor.stop_all()

    def _check_port(self) -> None:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((ENV.host, ENV.port))
            except OSError as error:
                raise CommandError(
                    f"Port {ENV.port} of {ENV.host} cannot be used ({error.strerror}). "
                    "Set PORT to a free one: PORT=8001 make run"
                ) from None

    def _start_broker(self, supervisor: Supervisor) -> Mapping[str, str]:
        """The children's environment, with the address of the broker they share."""
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "apps.config.settings"}
        if not settings.CELERY_BROKER_IS_EMBEDDED:
            return environment
        try:
            broker = embedded_broker.prepare(settings.VAR / "run")
        except NoBroker as error:
            raise CommandError(str(error)) from None
        supervisor.add("broker", broker.command, environment)
        supervisor.wait_until(
            lambda: embedded_broker.answers(broker.port), what="The broker", seconds=10
        )
        return {**environment, "CELERY_BROKER_URL": broker.url}

    def _welcome(self) -> None:
        login = settings.VAR / "first-login.txt"
        lines = [f"Turnwright is ready on {settings.PUBLIC_URL}"]
        if login.exists():
            lines += ["", login.read_text(encoding="utf-8").rstrip()]
        self.stdout.write("\n".join([*lines, "", "Ctrl-C stops everything."]))
        self.stdout.flush()


def web_command() -> list[str]:
    return [
        sys.executable, "-m", "granian", "--interface", "wsgi",
        "--host", ENV.host, "--port", str(ENV.port),
        "--workers", str(ENV.web_workers), "--blocking-threads", str(ENV.web_threads),
        "--respawn-failed-workers", "--workers-kill-timeout", "5", "--log-level", "warning",
        "apps.config.wsgi:application",
    ]  # fmt: skip


def worker_command() -> list[str]:
    return [
        sys.executable, "-m", "celery", "--quiet", "--app", "apps.config", "worker",
        "--concurrency", "2", "--loglevel", "WARNING",
        "--without-gossip", "--without-mingle", "--hostname", f"turnwright-{ENV.port}@%h",
    ]  # fmt: skip


def beat_command() -> list[str]:
    """Celery's beat alone: a worker that embeds it (``--beat``) does not see it die."""
    return [
        sys.executable, "-m", "celery", "--quiet", "--app", "apps.config", "beat",
        "--schedule", str(settings.VAR / "run" / "beat-schedule"), "--loglevel", "WARNING",
    ]  # fmt: skip


def web_answers() -> bool:
    """True once the web server says that it is healthy."""
    try:
        with urllib.request.urlopen(f"{settings.OWN_URL}/health", timeout=2) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False
