"""A harness session over one revision, and the tool calls made in it."""

from typing import ClassVar

from django.db import models
from django.utils import timezone


class Session(models.Model):
    """One episode. It lives here, not in a process: any worker answers any request of it.

    ``sid`` is opened by ``/create_session``; ``/create`` binds it to a revision. ``finished`` is the
    latch after which every call answers ``episode_finished``.
    """

    sid = models.CharField(max_length=64, unique=True)
    api_key = models.ForeignKey("accounts.ApiKey", models.CASCADE, related_name="sessions")
    project = models.ForeignKey("accounts.Project", models.CASCADE, related_name="sessions")
    environment = models.ForeignKey(
        "tasks.Environment", models.CASCADE, related_name="sessions", null=True
    )
    revision = models.ForeignKey("tasks.Revision", models.CASCADE, related_name="+", null=True)
    finished = models.BooleanField(default=False)
    reward = models.FloatField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    bound_at = models.DateTimeField(null=True)
    last_seen_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["ended_at", "last_seen_at"], name="session_by_life"),
            models.Index(fields=["environment", "-id"], name="session_in_environment"),
        ]

    def __str__(self) -> str:
        return self.sid


class ToolRun(models.Model):
    """One call of a tool, found again by its ``task_id`` when a stream was dropped."""

    session = models.ForeignKey(Session, models.CASCADE, related_name="tool_runs")
    task_id = models.CharField(max_length=64, unique=True)
    tool = models.CharField(max_length=200)
    input = models.TextField()
    output = models.TextField(blank=True)  # the result as sent, empty while it runs
    error = models.TextField(blank=True)
    reward = models.FloatField(null=True)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.tool} {self.task_id}"
