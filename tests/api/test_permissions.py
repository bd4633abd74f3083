"""Every address x method x caller: closed by default. A new route without a row here fails."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import transaction
from django.urls import URLPattern, URLResolver

from apps.accounts.permissions import Right, may
from apps.api import urls
from tests.api.callers import Caller, Heard, nobody, signed_in, with_key
from tests.api.world import SPEC
from tests.cast import Cast
from tests.factories import make_content, message

PEOPLE = ("owner", "author", "annotator", "viewer", "outsider")
KEYS = ("harness_key", "read_key", "write_key", "admin_key", "foreign_key")
OPEN = {"schema", "docs", "unknown"}
"""What anybody may ask for, without a key."""


@dataclass(frozen=True)
class Row:
    """What a method of an address needs, a body that is right, and the status of success."""

    right: Right
    status: int = 200
    body: Any = None
    query: str = ""


V, W, A = Right.VIEW, Right.AUTHOR, Right.ADMINISTER
NEW = {"split": "train", "content": make_content(message("user", "New"))}

LAUNCH = {"environment": "shop", "solver": "answer", "model": "demo"}

GRANTED = {
    "owner": {V, W, A},
    "author": {V, W},
    "annotator": {V},
    "viewer": {V},
    "harness_key": set[Right](),
    "read_key": {V},
    "write_key": {V, W},
    "admin_key": {V, W, A},
}
"""Written down by hand: what is not here is denied."""

MATRIX: dict[tuple[str, str], Row] = {
    ("project", "GET"): Row(V),
    ("members", "GET"): Row(V),
    ("member", "PUT"): Row(A, body={"role": "author"}),
    ("member", "DELETE"): Row(A, 204),
    ("keys", "GET"): Row(A),
    ("keys", "POST"): Row(A, 201, {"name": "new"}),
    ("key", "DELETE"): Row(A, 204),
    ("audit", "GET"): Row(A),
    ("endpoints", "GET"): Row(V),
    ("endpoints", "POST"): Row(A, 201, {"key": "new", "base_url": "demo", "model": "echo"}),
    ("endpoint", "GET"): Row(V),
    ("endpoint", "PATCH"): Row(A, body={"model": "judge"}),
    ("endpoint", "DELETE"): Row(A, 204),
    ("endpoint_test", "POST"): Row(A),
    ("trace", "GET"): Row(V),
    ("solvers", "GET"): Row(V),
    ("solvers", "POST"): Row(W, 201, {"text": SPEC}),
    ("solver", "GET"): Row(V),
    ("solver_versions", "GET"): Row(V),
    ("solver_checks", "POST"): Row(V, body={"text": SPEC}),
    ("runs", "GET"): Row(V),
    ("runs", "POST"): Row(W, 201, LAUNCH),
    ("run", "GET"): Row(V),
    ("cancel", "POST"): Row(W),
    ("resume", "POST"): Row(W, 409),  # it is queued: there is nothing to resume
    ("samples", "GET"): Row(V),
    ("sample", "GET"): Row(V),
    ("environments", "GET"): Row(V),
    ("environments", "POST"): Row(W, 201, {"slug": "new"}),
    ("environment", "GET"): Row(V),
    ("environment", "PATCH"): Row(W, body={"name": "New"}),
    ("tools", "GET"): Row(V),
    ("tools", "PUT"): Row(W, body={"tools": []}),
    ("splits", "GET"): Row(V),
    ("splits", "POST"): Row(W, 201, {"name": "new"}),
    ("import", "POST"): Row(W, body=[{"question": "Why?"}], query="?split=train"),
    ("imports", "GET"): Row(W),
    ("imports", "POST"): Row(W, 201, [{"question": "Why?"}], query="?split=train"),
    ("import_step", "GET"): Row(W),
    ("import_step", "PATCH"): Row(W, body={"update": True}),
    ("import_step", "DELETE"): Row(W, 204),
    ("accept", "POST"): Row(W),
    ("undo", "POST"): Row(W, 409),  # it is proposed: there is nothing to undo
    ("ledger", "GET"): Row(W),
    ("import_row", "GET"): Row(W),
    ("exports", "GET"): Row(V),
    ("exports", "POST"): Row(V, 201, {"format": "openreward"}),
    ("kept_export", "GET"): Row(V),
    ("kept_export", "DELETE"): Row(W, 204),
    ("export_file", "GET"): Row(V),
    ("kept_losses", "GET"): Row(V),
    ("export", "GET"): Row(V),
    ("export_losses", "GET"): Row(V),
    ("previews", "POST"): Row(V, body={"content": NEW["content"]}),
    ("tasks", "GET"): Row(V),
    ("tasks", "POST"): Row(W, 201, NEW),
    ("task", "GET"): Row(V),
    ("task", "PATCH"): Row(W, body={"key": "new"}),
    ("revisions", "GET"): Row(V),
    ("revisions", "POST"): Row(W, 201, {"base": 1, "content": NEW["content"]}),
    ("revision", "GET"): Row(V),
    ("restore", "POST"): Row(W, 200, {"base": 1}),
}

PERSONAL = {("me", "GET"), ("projects", "GET"), ("projects", "POST")}
"""Addresses outside of a project, tested by name below."""


@dataclass(frozen=True)
class Route:
    """A named address: its template below ``/api/`` and the methods it has."""

    template: str
    methods: frozenset[str]

    def path(self, names: dict[str, Any]) -> str:
        return re.sub(r"<\w+:(\w+)>", lambda found: str(names[found[1]]), self.template)


def routes() -> dict[str, Route]:
    """Every named address of the API, from the URL list itself."""

    def walk(patterns: list[Any], before: str) -> Iterator[tuple[str, Route]]:
        for each in patterns:
            template = before + str(each.pattern)
            if isinstance(each, URLResolver):
                yield from walk(each.url_patterns, template)
            elif each.name not in OPEN:
                yield each.name, Route(template, _methods(each))

    return dict(walk(urls.urlpatterns, ""))


def _methods(pattern: URLPattern) -> frozenset[str]:
    view = pattern.callback.view_class  # type: ignore[attr-defined]
    return frozenset(
        name.upper()
        for name in ("get", "post", "put", "patch", "delete", "trace")
        if hasattr(view, name)
    )


ROUTES = routes()
CELLS = sorted(MATRIX)


def names_an_object(name: str) -> bool:
    """True if the address names something that belongs to one project."""
    return bool(set(re.findall(r":(\w+)>", ROUTES[name].template)) - {"project", "username"})


def test_every_method_of_every_address_has_its_row() -> None:
    there = {(name, method) for name, route in ROUTES.items() for method in route.methods}
    assert there == set(MATRIX) | PERSONAL


def callers(cast: Cast) -> dict[str, Caller]:
    people = {name: signed_in(getattr(cast, name)) for name in PEOPLE}
    keys = {name: with_key(getattr(cast, name).secret) for name in KEYS}
    return {**people, **keys, "nobody": nobody()}


def ask(caller: Caller, cell: tuple[str, str], names: dict[str, Any]) -> Heard:
    """Ask, and undo what came of it."""
    name, method = cell
    row = MATRIX[cell]
    with transaction.atomic():
        heard = Caller(caller.client, "/api/").ask(
            method, ROUTES[name].path(names) + row.query, row.body
        )
        transaction.set_rollback(True)
    return heard


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_who_may_and_who_may_not(cell: tuple[str, str], cast: Cast, names: dict[str, Any]) -> None:
    row = MATRIX[cell]
    actors = cast.actors()
    for name, caller in callers(cast).items():
        actor = actors[name]
        expected = row.status
        if name == "nobody":
            expected = 401
        elif name in {"outsider", "foreign_key"}:
            expected = 404
        elif row.right not in GRANTED[name]:
            expected = 403
        heard = ask(caller, cell, names)
        assert heard.status == expected, (name, heard.body)
        assert may(actor, cast.project, row.right) == (expected == row.status)


@pytest.mark.parametrize("cell", [c for c in CELLS if names_an_object(c[0])], ids="-".join)
def test_nothing_of_a_project_is_found_under_another(
    cell: tuple[str, str], cast: Cast, names: dict[str, Any]
) -> None:
    heard = ask(with_key(cast.foreign_key.secret), cell, names | {"project": "beta"})
    assert heard.status == 404, heard.body


def test_who_one_is_and_which_projects_one_sees_is_for_everybody_known(cast: Cast) -> None:
    for name, caller in callers(cast).items():
        expected = 401 if name == "nobody" else 200
        assert caller.get("me/").status == expected
        assert caller.get("projects/").status == expected


def test_people_make_projects_and_keys_do_not(cast: Cast) -> None:
    for name, caller in callers(cast).items():
        expected = 401 if name == "nobody" else 201 if name in PEOPLE else 403
        slug = name.replace("_", "-")
        assert caller.post("projects/", {"slug": slug}).status == expected
