"""Who may do what: the one place that decides.

An `Actor` is a signed-in person, an API key, or the operator at the command line. A `Right` is
what an action or query needs. Roles and key scopes grant rights; what is not granted is denied. A
project that an actor has no right in does not exist for that actor.
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from apps.accounts.errors import Forbidden, NotFound
from apps.accounts.models import ApiKey, Membership, Project, Role, Scope, User


class Right(enum.Enum):
    """What can be asked for, from the least to the most."""

    SERVE = "fetch tasks over the harness protocol"
    VIEW = "read the project"
    ANNOTATE = "review conversations"
    AUTHOR = "write tasks, solvers and runs"
    ADMINISTER = "manage members, keys and model endpoints"


_VIEWER = frozenset({Right.SERVE, Right.VIEW})
_ANNOTATOR = _VIEWER | {Right.ANNOTATE}
_AUTHOR = _ANNOTATOR | {Right.AUTHOR}
_ADMIN = _AUTHOR | {Right.ADMINISTER}

RIGHTS_OF_ROLE: dict[str, frozenset[Right]] = {
    Role.VIEWER: _VIEWER,
    Role.ANNOTATOR: _ANNOTATOR,
    Role.AUTHOR: _AUTHOR,
    Role.ADMIN: _ADMIN,
}
RIGHTS_OF_SCOPE: dict[str, frozenset[Right]] = {
    Scope.HARNESS: frozenset({Right.SERVE}),
    Scope.READ: frozenset({Right.VIEW}),
    Scope.WRITE: frozenset({Right.VIEW, Right.ANNOTATE, Right.AUTHOR}),
    Scope.ADMIN: _ADMIN,
}


def rights_of_scopes(scopes: Iterable[str]) -> frozenset[Right]:
    """What a key with these scopes may do in its own project."""
    return frozenset().union(*(RIGHTS_OF_SCOPE.get(scope, frozenset()) for scope in scopes))


@dataclass(frozen=True)
class Actor:
    """Who asks. Exactly one of the three is set."""

    user: User | None = None
    api_key: ApiKey | None = None
    operator: bool = False

    def __str__(self) -> str:
        if self.user is not None:
            return self.user.get_username()
        if self.api_key is not None:
            return f"key {self.api_key.name}"
        return "operator"


OPERATOR = Actor(operator=True)


def rights_in(actor: Actor, project: Project) -> frozenset[Right]:
    """Everything ``actor`` may do in ``project``; empty for a stranger."""
    if actor.operator:
        return _ADMIN
    if actor.api_key is not None:
        if actor.api_key.project_id != project.pk:
            return frozenset()
        return rights_of_scopes(actor.api_key.scopes)
    if actor.user is None or not actor.user.is_active:
        return frozenset()
    if actor.user.is_superuser:
        return _ADMIN
    role = (
        Membership.objects.filter(project=project, user=actor.user)
        .values_list("role", flat=True)
        .first()
    )
    return RIGHTS_OF_ROLE.get(role or "", frozenset())


def may(actor: Actor, project: Project, right: Right) -> bool:
    return right in rights_in(actor, project)


def require(actor: Actor, project: Project, right: Right) -> None:
    """Raise `NotFound` for a stranger and `Forbidden` for a member who lacks ``right``."""
    granted = rights_in(actor, project)
    if not granted:
        raise NotFound(f"There is no project {project.slug!r}.", place="project")
    if right not in granted:
        raise Forbidden(f"You may not {right.value} in {project.slug!r}.")
