"""Conversations as they happened, turn by turn, and the ledger of model calls behind them.

A trace's text is stored once, in its entries, and once more as the raw replies of the ledger, so
its storage grows with its text and not with the square of its turns.
"""

from typing import ClassVar

from django.db import models
from django.utils import timezone


class Trace(models.Model):
    """One conversation. ``ended`` is empty while it still grows."""

    project = models.ForeignKey("accounts.Project", models.CASCADE, related_name="traces")
    source = models.CharField(max_length=16, default="run")
    title = models.CharField(max_length=300, blank=True)
    ended = models.CharField(max_length=32, blank=True)
    ended_path = models.CharField(max_length=300, blank=True)
    ended_model = models.CharField(max_length=200, blank=True)
    ended_message = models.TextField(blank=True)
    answer = models.TextField(null=True)  # noqa: DJ001 - no answer is not an empty answer
    metadata = models.JSONField(default=dict)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"trace {self.pk}"


class TraceEntry(models.Model):
    """One event of a trace, in order; ``body`` is canonical JSON text, its key order kept."""

    trace = models.ForeignKey(Trace, models.CASCADE, related_name="entries")
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=32)
    path = models.CharField(max_length=300, blank=True)
    body = models.TextField()
    discarded = models.BooleanField(default=False)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["trace", "position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["trace", "position"], name="one_entry_per_position"),
        ]

    def __str__(self) -> str:
        return f"{self.position}: {self.kind}"


class CallState(models.TextChoices):
    PLANNED = "planned", "Planned"
    SENT = "sent", "Sent"
    RECEIVED = "received", "Received"
    KEPT = "kept", "Kept"
    DISCARDED = "discarded", "Discarded"
    FAILED = "failed", "Failed"
    LATE = "late", "Late"
    UNKNOWN = "unknown", "Unknown: may have been charged"


class ModelCall(models.Model):
    """One attempt to have a model reply: a row of the ledger.

    ``ordinal`` is the call's number in its conversation (0-based) and, with the request's
    fingerprint, what a resumed conversation finds its paid reply by. ``latency_ms`` is from sending
    to the last byte. ``cost`` is None where a price or the usage is not known. A ``superseded``
    row is history: its reply is not reused, because its owner asked for a new attempt or because
    the request is no longer the same.
    """

    trace = models.ForeignKey(Trace, models.CASCADE, related_name="calls")
    ordinal = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=16, choices=CallState.choices, default=CallState.PLANNED)
    purpose = models.CharField(max_length=16)
    model_key = models.CharField(max_length=200, blank=True)
    endpoint = models.ForeignKey("providers.ModelEndpoint", models.SET_NULL, null=True)
    path = models.CharField(max_length=300, blank=True)
    fingerprint = models.CharField(max_length=64)
    superseded = models.BooleanField(default=False)
    response = models.TextField(blank=True)
    reason = models.CharField(max_length=32, blank=True)
    error = models.TextField(blank=True)
    input_tokens = models.PositiveIntegerField(null=True)
    cached_tokens = models.PositiveIntegerField(null=True)
    output_tokens = models.PositiveIntegerField(null=True)
    cost = models.DecimalField(max_digits=16, decimal_places=9, null=True)
    latency_ms = models.FloatField(null=True)
    planned_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["trace", "ordinal", "attempt"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["trace", "ordinal", "attempt"], name="one_row_per_attempt"
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=CallState.values), name="call_state_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"call {self.ordinal}.{self.attempt} ({self.state})"


class Score(models.Model):
    """What one scorer said of one trace: values, or the reason why there are none."""

    trace = models.ForeignKey(Trace, models.CASCADE, related_name="scores")
    scorer = models.CharField(max_length=100)
    values = models.JSONField(default=dict)
    metadata = models.JSONField(default=dict)
    unscored_reason = models.CharField(max_length=64, blank=True)
    unscored_message = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["trace", "scorer"], name="one_score_per_scorer"),
        ]

    def __str__(self) -> str:
        return f"{self.scorer}: {self.values or self.unscored_reason}"
