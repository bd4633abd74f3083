"""Environments, their tools and splits, tasks, and the immutable revisions of tasks.

Content is canonical JSON text with its key order kept (never ``jsonb``: key order reaches the model
through ``/prompt``). What has to be searched or listed is derived into columns.
"""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone


class Environment(models.Model):
    """A set of tasks served under ``project/slug``.

    ``scorers`` is a list of scorer objects (section 7 of the vocabulary) that grade what an answer
    tool is handed. ``offers_submit`` shows harnesses a visible ``submit`` tool beside a terminal
    one.
    """

    project = models.ForeignKey("accounts.Project", models.CASCADE, related_name="environments")
    slug = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    is_default = models.BooleanField(default=False)
    offers_submit = models.BooleanField(default=True)
    supports_score_group = models.BooleanField(default=False)
    scorers = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint("project", Lower("slug"), name="environment_slug_once"),
            models.UniqueConstraint(
                fields=["project"],
                condition=models.Q(is_default=True),
                name="one_default_environment",
            ),
        ]

    def __str__(self) -> str:
        return self.slug


class SplitType(models.TextChoices):
    TRAIN = "train", "Train"
    VALIDATION = "validation", "Validation"
    TEST = "test", "Test"


class Split(models.Model):
    environment = models.ForeignKey(Environment, models.CASCADE, related_name="splits")
    name = models.CharField(max_length=64)
    type = models.CharField(max_length=16, choices=SplitType.choices)
    position = models.PositiveIntegerField(default=0)
    task_count = models.PositiveIntegerField(default=0)  # all but archived, kept by the actions
    ready_count = models.PositiveIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["position", "pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "name"], name="split_name_once"),
            models.CheckConstraint(
                condition=models.Q(type__in=SplitType.values), name="split_type_is_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ToolKind(models.TextChoices):
    ANSWER = "answer", "Answer: grades and ends the episode"
    SCRIPTED = "scripted", "Scripted: authored results"
    MODEL = "model", "Model: an endpoint plays the tool"
    HTTP = "http", "HTTP: a webhook"


class Tool(models.Model):
    """A tool a harness may call. A terminal tool is hidden and fed with the model's plain message.

    ``input_schema`` is JSON Schema text, key order kept; empty means no schema is announced.
    ``argument`` names the one field an answer tool grades (None: it takes no argument).
    """

    environment = models.ForeignKey(Environment, models.CASCADE, related_name="tools")
    position = models.PositiveIntegerField(default=0)
    name = models.CharField(max_length=128)
    kind = models.CharField(max_length=16, choices=ToolKind.choices)
    is_terminal = models.BooleanField(default=False)
    argument = models.CharField(max_length=128, null=True, blank=True)  # noqa: DJ001
    ends_episode = models.BooleanField(default=True)
    description = models.TextField(blank=True)
    input_schema = models.TextField(blank=True)
    config = models.JSONField(default=dict)

    class Meta:
        ordering: ClassVar = ["position", "pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "name"], name="tool_name_once"),
            models.UniqueConstraint(
                fields=["environment"],
                condition=models.Q(is_terminal=True),
                name="one_terminal_tool",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class TaskStatus(models.TextChoices):
    DRAFT = "draft", "Draft"
    READY = "ready", "Ready"
    ARCHIVED = "archived", "Archived"


class Task(models.Model):
    """One conversation task. Its content lives in revisions; ``current`` is the newest one."""

    environment = models.ForeignKey(Environment, models.CASCADE, related_name="tasks")
    split = models.ForeignKey(Split, models.PROTECT, related_name="tasks")
    key = models.CharField(max_length=200)
    position = models.BigIntegerField()
    status = models.CharField(max_length=16, choices=TaskStatus.choices, default=TaskStatus.DRAFT)
    current = models.OneToOneField(
        "Revision", models.PROTECT, related_name="current_of", null=True, blank=True
    )
    summary = models.CharField(max_length=200, blank=True)  # the first words, for lists
    turns = models.PositiveIntegerField(default=0)
    tags = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    updated_by = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "key"], name="task_key_once"),
            models.CheckConstraint(
                condition=models.Q(status__in=TaskStatus.values), name="task_status_is_known"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["split", "status", "position", "id"], name="task_in_split"),
            models.Index(fields=["split", "position", "id"], name="task_listed_in_split"),
            models.Index(fields=["environment", "position", "id"], name="task_in_environment"),
            models.Index(fields=["environment", "status", "position", "id"], name="task_of_status"),
        ]

    def __str__(self) -> str:
        return self.key


class TaskText(models.Model):
    """What a search looks through: the visible text of a task's current revision, lower case."""

    task = models.OneToOneField(Task, models.CASCADE, primary_key=True, related_name="search_text")
    text = models.TextField()

    def __str__(self) -> str:
        return f"text of task {self.task_id}"


class Revision(models.Model):
    """An immutable snapshot of a task's content.

    ``content`` is canonical JSON text of ``{"messages", "attributes", "tools", "tags", "notes"}``,
    and ``candidates`` where there are some;
    ``messages_body`` and ``prompt_body`` are the bodies of ``/messages`` and ``/prompt`` ready to
    send; ``spec_body`` is the task spec a harness receives. ``grader`` (a list of scorers) and
    ``scripted`` (tool name to a list of ``{"input", "blocks", "delay_ms"?, "raise"?}``) are JSON
    text, empty if the task has none of its own; they are part of the snapshot and never served.

    ``made_by_import`` is the import that wrote it, and ``former_status`` what the task was before
    an import changed it (empty for a new task): what an undo goes by.
    """

    task = models.ForeignKey(Task, models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    parent = models.ForeignKey("self", models.SET_NULL, null=True, blank=True)
    content = models.TextField()
    content_hash = models.CharField(max_length=64)
    messages_body = models.TextField()
    prompt_body = models.TextField()
    spec_body = models.TextField()
    grader = models.TextField(blank=True)
    scripted = models.TextField(blank=True)
    author = models.CharField(max_length=200)
    message = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    made_by_import = models.ForeignKey(
        "Import", models.SET_NULL, null=True, blank=True, db_index=False, related_name="revisions"
    )
    former_status = models.CharField(max_length=16, blank=True)

    class Meta:
        ordering: ClassVar = ["task", "-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["task", "number"], name="revision_number_once"),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["made_by_import", "task"],
                condition=models.Q(made_by_import__isnull=False),
                name="revision_of_import",
            ),
        ]

    def __str__(self) -> str:
        return f"revision {self.number} of task {self.task_id}"


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

    ``mapping`` (columns to conversation) and ``roles`` (corrections made in the preview) change how
    the file is read. Counters are of rows. In the state proposed they tell what would come of the
    file; afterwards what came of it. ``kinds`` and ``codes`` count the rows that have a note of
    that kind or code, the latter a list of ``[code, rows]``. The ledger lies in a folder of the
    installation's state; ``has_file`` tells whether the file itself still does. ``removed``,
    ``archived``, ``restored`` and ``left`` count the tasks of an undo, which has come to the task
    ``undone_to``.
    """

    environment = models.ForeignKey(Environment, models.CASCADE, related_name="imports")
    split = models.CharField(max_length=64)
    file_name = models.CharField(max_length=255, blank=True)
    mapping = models.JSONField(null=True, blank=True)
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
    def is_open(self) -> bool:
        """Somebody works on it, or will."""
        return self.state in OPEN_IMPORTS

    @property
    def wrote(self) -> int:
        """The tasks that it made or changed; none as long as it is only proposed."""
        proposed = self.state in (ImportState.READING, ImportState.PROPOSED)
        return 0 if proposed else self.created + self.updated

    @property
    def can_be_undone(self) -> bool:
        return self.state in (ImportState.DONE, ImportState.FAILED) and self.wrote > 0

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
