"""Imports and exports: tasks on their way in or out, worked on in the background."""

import json
from typing import Any, ClassVar

from django.db import models
from django.utils import timezone

from apps.tasks.models.tasks import Environment


class Transfer(models.Model):
    """Tasks on their way in or out, as a piece of work that may be done in the background.

    ``author`` is who began it. ``user``, ``api_key`` or ``is_operator`` say on whose behalf the
    present step is done. A worker holds the row until ``lease_expires_at`` under the number of its
    ``claim``; a row whose step is open and whose lease has expired is taken over, which adds to the
    ``attempts`` at this step.
    """

    author = models.CharField(max_length=200)
    user = models.ForeignKey("accounts.User", models.SET_NULL, null=True, related_name="+")
    api_key = models.ForeignKey("accounts.ApiKey", models.SET_NULL, null=True, related_name="+")
    is_operator = models.BooleanField(default=False)
    format = models.CharField(max_length=64)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    claim = models.PositiveIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    lease_expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def number(self) -> int:
        """What it is called in addresses."""
        return int(self.pk)


class ImportState(models.TextChoices):
    """Open steps (a worker has to do something) are reading, writing and undoing."""

    READING = "reading", "Reading"
    PROPOSED = "proposed", "Waiting to be accepted"
    WRITING = "writing", "Writing"
    DONE = "done", "Imported"
    FAILED = "failed", "Failed"
    UNDOING = "undoing", "Undoing"
    UNDONE = "undone", "Undone"


OPEN_IMPORTS = (ImportState.READING, ImportState.WRITING, ImportState.UNDOING)


class Import(Transfer):
    """A file on its way to become tasks of a split, and what became of its rows.

    ``mapping`` (columns to conversation; kept as JSON text, for the order of its keys) and
    ``roles`` (corrections made in the preview) change how the file is read. Counters are of rows:
    in the state proposed they tell what would come of the file, afterwards what came of it.
    ``kinds`` and ``codes`` count the rows that have a note of that kind or code, the latter a list
    of ``[code, rows]``. The ledger lies in a folder of the installation's state; ``has_file`` tells
    whether the file itself still does. ``removed``, ``archived``, ``restored`` and ``left`` count
    the tasks of an undo, which has come to the task ``undone_to``.
    """

    environment = models.ForeignKey(Environment, models.CASCADE, related_name="imports")
    split = models.CharField(max_length=64)
    file_name = models.CharField(max_length=255, blank=True)
    mapping_text = models.TextField(blank=True)
    roles = models.JSONField(default=dict, blank=True)
    update = models.BooleanField(default=False)
    has_file = models.BooleanField(default=False)
    state = models.CharField(max_length=16, choices=ImportState.choices)
    bytes_total = models.BigIntegerField(default=0)
    bytes_read = models.BigIntegerField(default=0)
    rows_read = models.PositiveIntegerField(default=0)
    created = models.PositiveIntegerField(default=0)
    updated = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    drafts = models.PositiveIntegerField(default=0)
    kinds = models.JSONField(default=dict, blank=True)
    codes = models.JSONField(default=list, blank=True)
    removed = models.PositiveIntegerField(default=0)
    archived = models.PositiveIntegerField(default=0)
    restored = models.PositiveIntegerField(default=0)
    left = models.PositiveIntegerField(default=0)
    undone_to = models.BigIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["-pk"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(state__in=ImportState.values), name="import_state_is_known"
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["lease_expires_at"],
                condition=models.Q(state__in=["reading", "writing", "undoing"]),
                name="import_open",
            ),
        ]

    def __str__(self) -> str:
        return f"import {self.pk} of {self.file_name}"

    @property
    def mapping(self) -> dict[str, Any] | None:
        """The JSON object of a column mapping; None: every row is recognised by its shape."""
        return json.loads(self.mapping_text) if self.mapping_text else None

    @property
    def is_open(self) -> bool:
        """Somebody works on it, or will."""
        return self.state in OPEN_IMPORTS

    @property
    def wrote(self) -> int:
        """The tasks that it made or changed; none as long as it is only proposed."""
        proposed = self.state in (ImportState.READING, ImportState.PROPOSED)
        return 0 if proposed else self.created + self.updated

    @property
    def is_streamed(self) -> bool:
        """It is written as it arrives: no file is held, so that no worker can go on with it."""
        return self.state == ImportState.WRITING and not self.has_file

    @property
    def can_be_undone(self) -> bool:
        ended = self.state in (ImportState.DONE, ImportState.FAILED)
        return (ended or self.is_streamed) and self.wrote > 0

    @property
    def can_be_discarded(self) -> bool:
        waiting = (ImportState.READING, ImportState.PROPOSED, ImportState.FAILED)
        return self.state in waiting and self.wrote == 0

    @property
    def decided(self) -> int:
        """The rows whose outcome is known."""
        return self.created + self.updated + self.unchanged + self.refused

    @property
    def progress(self) -> float:
        """How far the present step has come, from 0 to 1."""
        match self.state:
            case ImportState.READING:
                done, total = self.bytes_read, self.bytes_total
            case ImportState.WRITING:
                done, total = self.decided, self.rows_read
            case ImportState.UNDOING:
                done = self.removed + self.archived + self.restored + self.left
                total = self.created + self.updated
            case _:
                return 1.0
        return min(1.0, done / total) if total else 0.0


class ExportState(models.TextChoices):
    WRITING = "writing", "Writing"
    DONE = "done", "Ready to be fetched"
    FAILED = "failed", "Failed"


class Export(Transfer):
    """Tasks written to a file in the background, to be fetched while ``has_file``.

    ``split`` and ``status`` empty: all splits, all but the archived tasks. ``on_loss`` says what
    happens to a task that the format cannot carry whole. ``tasks`` counts those done, of
    ``tasks_total``; ``refused`` those left out of the file and ``lossy`` those that lost something.
    """

    environment = models.ForeignKey(Environment, models.CASCADE, related_name="exports")
    split = models.CharField(max_length=64, blank=True)
    status = models.CharField(max_length=16, blank=True)
    on_loss = models.CharField(max_length=16)
    state = models.CharField(max_length=16, choices=ExportState.choices)
    has_file = models.BooleanField(default=False)
    file_name = models.CharField(max_length=255)
    tasks_total = models.PositiveIntegerField(default=0)
    tasks = models.PositiveIntegerField(default=0)
    rows = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    lossy = models.PositiveIntegerField(default=0)
    bytes_total = models.BigIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["-pk"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(state__in=ExportState.values), name="export_state_is_known"
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["lease_expires_at"],
                condition=models.Q(state="writing"),
                name="export_open",
            ),
        ]

    def __str__(self) -> str:
        return f"export {self.pk} as {self.format}"

    @property
    def is_open(self) -> bool:
        """Somebody works on it, or will."""
        return self.state == ExportState.WRITING

    @property
    def progress(self) -> float:
        """How far it has come, from 0 to 1."""
        if not self.is_open:
            return 1.0
        return min(1.0, self.tasks / self.tasks_total) if self.tasks_total else 0.0
