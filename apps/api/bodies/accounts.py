"""Projects, members, keys, the audit log."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field

from apps.api.bodies.base import NEXT, Answer
from apps.api.parsing import Body

RoleName = Literal["viewer", "annotator", "author", "admin"]
ScopeName = Literal["harness", "read", "write", "admin"]
Slug = Annotated[
    str,
    Field(
        max_length=64,
        description="Lower-case letters, digits, - and _; a letter or digit at both ends",
    ),
]


class Me(Answer):
    """Who asks: a person, or a key of one project."""

    kind: Literal["person", "key"]
    name: str
    project: str | None = Field(description="The key's project; null for a person")
    scopes: list[str]


class Project(Answer):
    slug: str
    name: str
    created_at: datetime


class ProjectDetail(Project):
    """A project, and what the asker may do in it."""

    rights: list[str] = Field(description="serve, view, annotate, author, administer")


class ProjectPage(Answer):
    items: list[Project]
    next: str | None = NEXT


class NewProject(Body):
    slug: Slug
    name: str = Field("", max_length=200)


class Member(Answer):
    username: str
    role: RoleName
    created_at: datetime


class MemberPage(Answer):
    items: list[Member]
    next: str | None = NEXT


class MemberRole(Body):
    role: RoleName


class ApiKey(Answer):
    """A key without its text, which only its making shows."""

    id: int
    name: str
    prefix: str = Field(description="The first characters of the key, to recognise it by")
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


class ApiKeyPage(Answer):
    items: list[ApiKey]
    next: str | None = NEXT


class NewApiKey(Body):
    name: str = Field(min_length=1, max_length=100)
    scopes: list[ScopeName] = Field(["harness"], min_length=1)
    expires_at: Annotated[AwareDatetime | None, Field(strict=False)] = Field(
        None, description="ISO 8601 with a time zone; null: never"
    )


class MadeApiKey(ApiKey):
    key: str = Field(description="The key's text: shown now and never again")


class AuditEntry(Answer):
    id: int
    at: datetime
    actor: str
    action: str
    subject: str
    detail: dict[str, Any]


class AuditPage(Answer):
    items: list[AuditEntry]
    next: str | None = NEXT
