"""Reading users, projects, members, keys and the audit log. The asker comes first."""

import hashlib

from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.errors import NotFound
from apps.accounts.models import ApiKey, AuditEntry, Membership, Project
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.blocks.json_values import text_fault


def visible_projects(actor: Actor) -> QuerySet[Project]:
    """The projects ``actor`` has any right in, by name."""
    projects = Project.objects.order_by("name", "pk")
    if actor.operator or (actor.user is not None and actor.user.is_superuser):
        return projects
    if actor.api_key is not None:
        return projects.filter(pk=actor.api_key.project_id)
    if actor.user is None or not actor.user.is_active:
        return projects.none()
    return projects.filter(memberships__user=actor.user)


def get_project(actor: Actor, slug: str, right: Right = Right.VIEW) -> Project:
    """The project named ``slug``; `NotFound` for a stranger, `Forbidden` without ``right``."""
    project = None if text_fault(slug) else Project.objects.filter(slug=slug).first()
    if project is None:
        raise NotFound(f"There is no project {slug!r}.", place="project")
    require(actor, project, right)
    return project


def members(actor: Actor, project: Project) -> QuerySet[Membership]:
    require(actor, project, Right.VIEW)
    return project.memberships.select_related("user").order_by("user__username")


def api_keys(actor: Actor, project: Project) -> QuerySet[ApiKey]:
    """Keys, newest first, revoked ones included; never their text, which is not kept."""
    require(actor, project, Right.ADMINISTER)
    return project.api_keys.select_related("created_by").order_by("-pk")


def get_api_key(actor: Actor, project: Project, pk: int) -> ApiKey:
    """One key of the project; `NotFound` for another's."""
    key = api_keys(actor, project).filter(pk=pk).first()
    if key is None:
        raise NotFound(f"There is no key {pk} in {project.slug!r}.", place="key")
    return key


def audit_entries(actor: Actor, project: Project) -> QuerySet[AuditEntry]:
    require(actor, project, Right.ADMINISTER)
    return project.audit_entries.order_by("-pk")


def digest_of(key: str) -> str:
    """How a key is stored: its SHA-256 in hexadecimal."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def key_for(secret: str) -> ApiKey | None:
    """The usable key whose text is ``secret``; None if unknown, revoked or expired."""
    key = ApiKey.objects.select_related("project").filter(digest=digest_of(secret)).first()
    if key is None or key.revoked_at is not None:
        return None
    if key.expires_at is not None and key.expires_at <= timezone.now():
        return None
    return key
