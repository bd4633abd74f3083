"""The people every test knows, and the two projects they meet in.

`owner` is an admin of ``alpha``, `author`, `annotator` and `viewer` have the role of their name
there, and `outsider` is an admin of ``beta`` alone. Each key belongs to ``alpha`` and has the scope
of its name; `foreign_key` belongs to ``beta`` and has every scope.
"""

from dataclasses import dataclass

from apps.accounts.actions import NewKey, create_api_key, create_project, set_member
from apps.accounts.models import Project, Role, Scope, User
from apps.accounts.permissions import OPERATOR, Actor

PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class Cast:
    project: Project
    other_project: Project
    owner: User
    author: User
    annotator: User
    viewer: User
    outsider: User
    harness_key: NewKey
    read_key: NewKey
    write_key: NewKey
    admin_key: NewKey
    foreign_key: NewKey

    def actors(self) -> dict[str, Actor]:
        """Everybody who may come to the door of ``alpha``, by name."""
        people = {
            name: Actor(user=getattr(self, name))
            for name in ("owner", "author", "annotator", "viewer", "outsider")
        }
        keys = {
            name: Actor(api_key=getattr(self, name).row)
            for name in ("harness_key", "read_key", "write_key", "admin_key", "foreign_key")
        }
        return {**people, **keys, "nobody": Actor(), "operator": OPERATOR}


def _person(name: str) -> User:
    return User.objects.create_user(name, f"{name}@example.org", PASSWORD)


def _key(project: Project, *scopes: str) -> NewKey:
    return create_api_key(
        actor=OPERATOR, project=project, name="-".join(scopes)[:100], scopes=scopes
    )


def gather() -> Cast:
    """Make the cast; needs a database."""
    owner, author, annotator, viewer, outsider = map(
        _person, ("owner", "author", "annotator", "viewer", "outsider")
    )
    project = create_project(actor=Actor(user=owner), slug="alpha", name="Alpha")
    other_project = create_project(actor=Actor(user=outsider), slug="beta", name="Beta")
    for user, role in (
        (author, Role.AUTHOR),
        (annotator, Role.ANNOTATOR),
        (viewer, Role.VIEWER),
    ):
        set_member(actor=Actor(user=owner), project=project, username=user.username, role=role)
    return Cast(
        project=project,
        other_project=other_project,
        owner=owner,
        author=author,
        annotator=annotator,
        viewer=viewer,
        outsider=outsider,
        harness_key=_key(project, Scope.HARNESS),
        read_key=_key(project, Scope.READ),
        write_key=_key(project, Scope.WRITE),
        admin_key=_key(project, Scope.ADMIN),
        foreign_key=_key(other_project, *Scope.values),
    )
