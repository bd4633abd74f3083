"""Solver specs, runs and their samples."""

from typing import ClassVar

from django.db import models
from django.utils import timezone


class SolverSpec(models.Model):
    """One version of a task specification (a LatticeFlow ``task.yaml``); versions never change."""

    project = models.ForeignKey("accounts.Project", models.CASCADE, related_name="solver_specs")
    key = models.CharField(max_length=128)
    version = models.PositiveIntegerField()
    display_name = models.CharField(max_length=200, blank=True)
    text = models.TextField()
    text_hash = models.CharField(max_length=64)
    author = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["key", "-version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "key", "version"], name="spec_version_once"),
        ]

    def __str__(self) -> str:
        return f"{self.key} v{self.version}"


class RunState(models.TextChoices):
    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    CANCELLING = "cancelling", "Cancelling"
    CANCELLED = "cancelled", "Cancelled"
    INTERRUPTED = "interrupted", "Interrupted"
    FINISHED = "finished", "Finished"


class Run(models.Model):
    """A batch: tasks x trials through one solver version, with its counters.

    Counters are kept by the writers in the same transaction as the rows they count, so that a page
    never has to count. ``config`` holds the values of the spec's parameters; ``metrics`` is a list
    of ``{key, value, n, total, coverage, low, high, low_if_failed, high_if_passed}``. ``error``
    says why an interrupted run could not go on.
    """

    project = models.ForeignKey("accounts.Project", models.CASCADE, related_name="runs")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=16, choices=RunState.choices, default=RunState.QUEUED)
    environment = models.ForeignKey("tasks.Environment", models.PROTECT, related_name="runs")
    split = models.ForeignKey("tasks.Split", models.PROTECT, related_name="runs", null=True)
    spec = models.ForeignKey(SolverSpec, models.PROTECT, related_name="runs")
    evaluated = models.ForeignKey(
        "providers.ModelEndpoint", models.PROTECT, related_name="evaluated_in"
    )
    config = models.JSONField(default=dict)
    trials = models.PositiveIntegerField(default=1)
    sample_limit = models.PositiveIntegerField(null=True)
    concurrency = models.PositiveIntegerField(default=64)
    error = models.TextField(blank=True)
    author = models.CharField(max_length=200)
    samples_total = models.PositiveIntegerField(default=0)
    samples_done = models.PositiveIntegerField(default=0)
    samples_scored = models.PositiveIntegerField(default=0)
    calls = models.PositiveIntegerField(default=0)
    calls_unknown = models.PositiveIntegerField(default=0)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    cost = models.DecimalField(max_digits=18, decimal_places=9, default=0)
    ended = models.JSONField(default=dict)  # end reason -> number of samples
    metrics = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "number"], name="run_number_once"),
            models.CheckConstraint(
                condition=models.Q(state__in=RunState.values), name="run_state_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.number}"


class SampleState(models.TextChoices):
    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    CANCELLED = "cancelled", "Cancelled"


class Sample(models.Model):
    """One task in one trial of a run, played by whichever worker holds its lease."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="samples")
    revision = models.ForeignKey("tasks.Revision", models.PROTECT, related_name="samples")
    trial = models.PositiveIntegerField(default=0)
    position = models.PositiveIntegerField()
    state = models.CharField(
        max_length=16, choices=SampleState.choices, default=SampleState.WAITING
    )
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_expires_at = models.DateTimeField(null=True)
    claims = models.PositiveIntegerField(default=0)
    trace = models.OneToOneField("traces.Trace", models.PROTECT, related_name="sample", null=True)
    ended = models.CharField(max_length=32, blank=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["run", "position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "position"], name="sample_position_once"),
            models.UniqueConstraint(fields=["run", "revision", "trial"], name="sample_once"),
            models.CheckConstraint(
                condition=models.Q(state__in=SampleState.values), name="sample_state_is_known"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["run", "state", "position"], name="sample_by_state"),
            models.Index(fields=["state", "lease_expires_at"], name="sample_by_lease"),
        ]

    def __str__(self) -> str:
        return f"sample {self.position} of run {self.run_id}"
