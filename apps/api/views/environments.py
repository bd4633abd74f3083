"""Environments, their tools and splits."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.permissions import Right
from apps.accounts.queries import get_project
from apps.api.authentication import actor_of
from apps.api.bodies import tasks as bodies
from apps.api.parsing import NoQuery, read_body, read_query
from apps.api.resource import Resource
from apps.api.schema import operation
from apps.tasks import actions, queries

if TYPE_CHECKING:
    from apps.tasks.models import Environment, Split, Tool

TAG = "environments"


def environment_answer(row: "Environment", splits: "Iterable[Split]") -> bodies.Environment:
    """An environment's row and its splits, as the API shows them."""
    return bodies.Environment(
        slug=row.slug,
        name=row.name,
        description=row.description,
        is_default=row.is_default,
        offers_submit=row.offers_submit,
        supports_score_group=row.supports_score_group,
        scorers=row.scorers,
        splits=[bodies.Split.model_validate(split) for split in splits],
        created_at=row.created_at,
    )


def tool_answer(row: "Tool") -> bodies.Tool:
    return bodies.Tool(
        name=row.name,
        kind=row.kind,
        description=row.description,
        input_schema=json.loads(row.input_schema) if row.input_schema else None,
        argument=row.argument,
        is_terminal=row.is_terminal,
        ends_episode=row.ends_episode,
        config=row.config,
    )


class EnvironmentsView(Resource):
    @operation(
        "list_environments",
        "The project's environments, by name",
        tag=TAG,
        answer=bodies.EnvironmentList,
    )
    def get(self, request: Request, project: str) -> Response:
        read_query(request, NoQuery)
        actor = actor_of(request)
        rows = queries.environments(actor, get_project(actor, project))
        items = [environment_answer(row, row.splits.all()) for row in rows]
        return Response(bodies.EnvironmentList(items=items))

    @operation(
        "create_environment",
        "Make an environment",
        tag=TAG,
        body=bodies.NewEnvironment,
        answer=bodies.Environment,
        status=201,
    )
    def post(self, request: Request, project: str) -> Response:
        """It is served at once under ``project/slug``; its splits are made one by one."""
        actor = actor_of(request)
        owner = get_project(actor, project, Right.AUTHOR)
        body = read_body(request, bodies.NewEnvironment)
        given = body.model_dump(exclude_unset=True, exclude_none=True, exclude={"tools"})
        if body.tools is not None:
            given["tools"] = [tool.model_dump() for tool in body.tools]
        row = actions.create_environment(actor=actor, project=owner, **given)
        return Response(environment_answer(row, []), status=201)


class EnvironmentView(Resource):
    @operation("read_environment", "One environment", tag=TAG, answer=bodies.Environment)
    def get(self, request: Request, project: str, environment: str) -> Response:
        read_query(request, NoQuery)
        actor = actor_of(request)
        row = queries.get_environment(actor, get_project(actor, project), environment)
        return Response(environment_answer(row, queries.splits(actor, row)))

    @operation(
        "change_environment",
        "Change what is given",
        tag=TAG,
        body=bodies.EnvironmentChange,
        answer=bodies.Environment,
    )
    def patch(self, request: Request, project: str, environment: str) -> Response:
        actor = actor_of(request)
        row = queries.get_environment(actor, get_project(actor, project, Right.AUTHOR), environment)
        body = read_body(request, bodies.EnvironmentChange)
        changed = actions.update_environment(
            actor=actor, environment=row, **body.model_dump(exclude_unset=True)
        )
        return Response(environment_answer(changed, queries.splits(actor, changed)))


class ToolsView(Resource):
    @operation("list_tools", "What harnesses may call", tag=TAG, answer=bodies.ToolList)
    def get(self, request: Request, project: str, environment: str) -> Response:
        read_query(request, NoQuery)
        actor = actor_of(request)
        row = queries.get_environment(actor, get_project(actor, project), environment)
        items = [tool_answer(tool) for tool in queries.tools(actor, row)]
        return Response(bodies.ToolList(items=items))

    @operation(
        "replace_tools",
        "Replace all tools",
        tag=TAG,
        body=bodies.NewTools,
        answer=bodies.ToolList,
    )
    def put(self, request: Request, project: str, environment: str) -> Response:
        actor = actor_of(request)
        row = queries.get_environment(actor, get_project(actor, project, Right.AUTHOR), environment)
        body = read_body(request, bodies.NewTools)
        rows = actions.set_tools(
            actor=actor, environment=row, tools=[tool.model_dump() for tool in body.tools]
        )
        return Response(bodies.ToolList(items=[tool_answer(tool) for tool in rows]))


class SplitsView(Resource):
    @operation("list_splits", "The environment's splits", tag=TAG, answer=bodies.SplitList)
    def get(self, request: Request, project: str, environment: str) -> Response:
        read_query(request, NoQuery)
        actor = actor_of(request)
        row = queries.get_environment(actor, get_project(actor, project), environment)
        items = [bodies.Split.model_validate(split) for split in queries.splits(actor, row)]
        return Response(bodies.SplitList(items=items))

    @operation(
        "create_split",
        "Make a split at the end of the list",
        tag=TAG,
        body=bodies.NewSplit,
        answer=bodies.Split,
        status=201,
    )
    def post(self, request: Request, project: str, environment: str) -> Response:
        actor = actor_of(request)
        row = queries.get_environment(actor, get_project(actor, project, Right.AUTHOR), environment)
        body = read_body(request, bodies.NewSplit)
        split = actions.create_split(
            actor=actor, environment=row, name=body.name, split_type=body.type
        )
        return Response(bodies.Split.model_validate(split), status=201)
