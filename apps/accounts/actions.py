"""Changing projects, members and keys; every change leaves an audit line."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.accounts.errors import Conflict, Forbidden, Invalid
from apps.accounts.models import SLUG, ApiKey, AuditEntry, Membership, Project, Role, Scope, User
from apps.accounts.permissions import Actor, Right, require
from apps.accounts.queries import digest_of
from apps.dialogue.blocks.json_values import text_fault

LAST_USED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True)
class NewKey:
    """A key at the only moment its text exists."""

    row: ApiKey
    secret: str


def record(
    *, actor: Actor, project: Project | None, action: str, subject: str, **detail: Any
) -> None:
    """Write one audit line; ``detail`` must not hold secrets."""
    AuditEntry.objects.create(
        project=project,
        actor=str(actor),
        user=actor.user,
        api_key=actor.api_key,
        action=action,
        subject=subject[:300],
        detail=detail,
    )


def check_slug(slug: str, *, place: str) -> str:
    """``slug`` itself if it may name something in an address; else `Invalid` at ``place``."""
    try:
        SLUG(slug)
    except ValidationError as error:
        raise Invalid(f"{slug!r} cannot be a name here. {error.messages[0]}", place=place) from None
    return slug


@transaction.atomic
def create_project(*, actor: Actor, slug: str, name: str = "") -> Project:
    """A new project; the person who made it is its first admin."""
    if actor.api_key is not None:
        raise Forbidden("A key belongs to one project and cannot make another.")
    if not actor.operator and (actor.user is None or not actor.user.is_active):
        raise Forbidden("Sign in to make a project.")
    check_slug(slug, place="slug")
    if text_fault(name) or len(name) > 200:
        raise Invalid("A project's name has at most 200 characters of text.", place="name")
    try:
        with transaction.atomic():
            project = Project.objects.create(slug=slug, name=name.strip() or slug)
    except IntegrityError:
        raise Conflict(f"There is a project {slug!r} already.", place="slug") from None
    if actor.user is not None:
        Membership.objects.create(project=project, user=actor.user, role=Role.ADMIN)
    record(actor=actor, project=project, action="project.create", subject=slug)
    return project


@transaction.atomic
def set_member(*, actor: Actor, project: Project, username: str, role: str) -> Membership:
    """Add a person to the project or change their role."""
    require(actor, project, Right.ADMINISTER)
    if role not in Role.values:
        raise Invalid(f"{role!r} is not one of {', '.join(Role.values)}.", place="role")
    user = None if text_fault(username) else User.objects.filter(username=username).first()
    if user is None:
        raise Invalid(f"There is no person named {username!r}.", place="username")
    _keep_an_admin(project, user, role)
    membership, _ = Membership.objects.update_or_create(
        project=project, user=user, defaults={"role": role}
    )
    record(actor=actor, project=project, action="member.set", subject=username, role=role)
    return membership


@transaction.atomic
def remove_member(*, actor: Actor, project: Project, username: str) -> None:
    require(actor, project, Right.ADMINISTER)
    memberships = project.memberships.select_related("user")
    membership = (
        None if text_fault(username) else memberships.filter(user__username=username).first()
    )
    if membership is None:
        raise Invalid(f"{username!r} is not a member of {project.slug!r}.", place="username")
    _keep_an_admin(project, membership.user, None)
    membership.delete()
    record(actor=actor, project=project, action="member.remove", subject=username)


def _keep_an_admin(project: Project, user: User, role: str | None) -> None:
    """A project without an admin could never be managed again."""
    admins = project.memberships.select_for_update().filter(role=Role.ADMIN)
    if role != Role.ADMIN and [m.user_id for m in admins] == [user.pk]:
        raise Invalid(
            f"{user.username!r} is the only admin of {project.slug!r}; name another first.",
            place="role",
        )


@transaction.atomic
def create_api_key(
    *,
    actor: Actor,
    project: Project,
    name: str,
    scopes: Iterable[str] = (Scope.HARNESS,),
    expires_at: datetime | None = None,
) -> NewKey:
    """A new key; its text is in the answer and nowhere else."""
    require(actor, project, Right.ADMINISTER)
    wanted = list(dict.fromkeys(scopes))
    unknown = [scope for scope in wanted if scope not in Scope.values]
    if unknown or not wanted:
        raise Invalid(
            f"{', '.join(map(repr, unknown)) or 'No scope'}: choose from "
            f"{', '.join(Scope.values)}.",
            place="scopes",
        )
    if not name.strip() or not name.isprintable() or len(name) > 100:
        raise Invalid("Give the key a name of 1 to 100 visible characters.", place="name")
    secret = f"tw_{secrets.token_urlsafe(32)}"
    row = ApiKey.objects.create(
        project=project,
        name=name.strip(),
        prefix=secret[:10],
        digest=digest_of(secret),
        scopes=wanted,
        created_by=actor.user,
        expires_at=expires_at,
    )
    record(actor=actor, project=project, action="key.create", subject=row.name, scopes=wanted)
    return NewKey(row=row, secret=secret)


@transaction.atomic
def revoke_api_key(*, actor: Actor, key: ApiKey) -> None:
    """End a key at once; ended twice it stays ended."""
    require(actor, key.project, Right.ADMINISTER)
    if key.revoked_at is None:
        key.revoked_at = timezone.now()
        key.save(update_fields=["revoked_at"])
        record(actor=actor, project=key.project, action="key.revoke", subject=key.name)


def note_key_use(*, key: ApiKey) -> None:
    """Remember that ``key`` is in use, at most once a minute."""
    now = timezone.now()
    if key.last_used_at is None or now - key.last_used_at > LAST_USED_EVERY:
        ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)
        key.last_used_at = now
