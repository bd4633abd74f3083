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
