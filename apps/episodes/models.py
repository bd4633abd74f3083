"""A harness session over one revision, and the calls made in it."""

from typing import ClassVar

from django.db import models
from django.utils import timezone


class EndReason(models.TextChoices):
    DELETED = "deleted", "Deleted by its harness"
    EXPIRED = "expired", "No sign of life"


class Session(models.Model):
    """One episode. It lives here, not in a process: any worker answers any request of it.

    ``sid`` was handed out by ``/create_session``; the row is made by ``/create``, which binds it to
    a revision, so ``sid`` is bound at most once. ``finished_at`` is the latch after which every
    call answers ``episode_finished``; ``ended_at`` is the end of the session itself.
    ``last_seen_at`` may be up to a minute behind the last request.
    """

    sid = models.CharField(max_length=64, unique=True)
    api_key = models.ForeignKey("accounts.ApiKey", models.CASCADE, related_name="sessions")
    project = models.ForeignKey("accounts.Project", models.CASCADE, related_name="sessions")
    environment = models.ForeignKey("tasks.Environment", models.CASCADE, related_name="sessions")
    revision = models.ForeignKey("tasks.Revision", models.CASCADE, related_name="+")
    reward = models.FloatField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    end_reason = models.CharField(max_length=16, choices=EndReason.choices, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(end_reason="", ended_at__isnull=True)
                | models.Q(end_reason__in=EndReason.values, ended_at__isnull=False),
                name="session_end_has_a_reason",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["ended_at", "last_seen_at"], name="session_by_life"),
            models.Index(fields=["environment", "-id"], name="session_in_environment"),
        ]

    def __str__(self) -> str:
        return self.sid


class RunKind(models.TextChoices):
    CALL = "call", "A tool call"
    SCORE_GROUP = "score_group", "A group of candidates scored"


class ToolRun(models.Model):
    """One call, found again by its ``task_id`` when a stream was dropped.

    ``input`` and ``output`` are ASCII JSON text; ``output`` is the result as sent. What a run came
    to was decided at ``settled_at`` and may be handed out from ``ready_at`` on, which is later
    where an author wants the tool to take its time or calls wait for each other. A run that failed
    has ``error`` instead of ``output``.
    """

    session = models.ForeignKey(Session, models.CASCADE, related_name="tool_runs")
    task_id = models.CharField(max_length=64, unique=True)
    kind = models.CharField(max_length=16, choices=RunKind.choices, default=RunKind.CALL)
    tool = models.CharField(max_length=200, blank=True)
    input = models.TextField()
    output = models.TextField(blank=True)
    error = models.TextField(blank=True)
    reward = models.FloatField(null=True)
    ends_episode = models.BooleanField(default=False)
    settled_at = models.DateTimeField(default=timezone.now)
    ready_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(kind__in=RunKind.values), name="tool_run_kind_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tool or self.kind} {self.task_id}"
