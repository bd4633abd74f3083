"""Users, projects, members, API keys and the audit log."""

from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone

SLUG = RegexValidator(
    r"\A[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?\Z",
    "Use lower-case letters, digits, hyphens and underscores, at most 64, a letter or digit at "
    "both ends.",
)


class User(AbstractUser):
    """A person. Service accounts do not exist: programs use API keys."""


class Project(models.Model):
    """What people share: OpenReward's namespace, or owner, of environments."""

    slug = models.CharField(max_length=64, unique=True, validators=[SLUG])
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.slug


class Role(models.TextChoices):
    """What a member may do, each role including those before it."""

    VIEWER = "viewer", "Viewer"
    ANNOTATOR = "annotator", "Annotator"
    AUTHOR = "author", "Author"
    ADMIN = "admin", "Admin"


class Membership(models.Model):
    project = models.ForeignKey(Project, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role.choices)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "user"], name="one_membership_per_project"),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="membership_role_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} is {self.role} of {self.project_id}"


class Scope(models.TextChoices):
    """What an API key may do. ``harness`` is the OpenReward protocol alone."""

    HARNESS = "harness", "Serve harnesses"
    READ = "read", "Read everything"
    WRITE = "write", "Write tasks and launch runs"
    ADMIN = "admin", "Manage the project"


class ApiKey(models.Model):
    """A program's way in to one project. Only the SHA-256 of the key is kept."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}...)"


class AuditEntry(models.Model):
    """One line of who changed what. Written by actions, never changed."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="audit_entries", null=True)
    actor = models.CharField(max_length=200)
    user = models.ForeignKey(User, models.SET_NULL, null=True)
    api_key = models.ForeignKey(ApiKey, models.SET_NULL, null=True)
    action = models.CharField(max_length=100)
    subject = models.CharField(max_length=300)
    detail = models.JSONField(default=dict)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["project", "-id"], name="audit_by_project")]

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.subject}"
