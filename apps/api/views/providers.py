"""Model endpoints."""

from typing import cast

from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.permissions import Right
from apps.accounts.queries import get_project
from apps.api.authentication import actor_of
from apps.api.bodies import providers as bodies
from apps.api.pagination import Order, cut
from apps.api.parsing import NoBody, NoQuery, read_body, read_query
from apps.api.resource import Resource
from apps.api.schema import operation
from apps.providers import actions, queries
from apps.providers.actions import EndpointSettings

TAG = "model endpoints"


def _settings(body: bodies.NewEndpoint | bodies.EndpointChange) -> EndpointSettings:
    """What the body really gave; a default is no wish."""
    given = body.model_dump(exclude_unset=True, exclude={"key", "secret"})
    return cast(EndpointSettings, given)


class EndpointsView(Resource):
    @operation(
        "list_endpoints",
        "The project's model endpoints",
        tag=TAG,
        query=bodies.EndpointsQuery,
        answer=bodies.EndpointPage,
    )
    def get(self, request: Request, project: str) -> Response:
        actor = actor_of(request)
        query = read_query(request, bodies.EndpointsQuery)
        rows = queries.endpoints(actor, get_project(actor, project), archived=query.archived)
        page = cut(rows, query, Order("key", str), Order("pk"))
        items = [bodies.ModelEndpoint.model_validate(row) for row in page.rows]
        return Response(bodies.EndpointPage(items=items, next=page.next))

    @operation(
        "create_endpoint",
        "Make a model endpoint",
        tag=TAG,
        body=bodies.NewEndpoint,
        answer=bodies.ModelEndpoint,
        status=201,
    )
    def post(self, request: Request, project: str) -> Response:
        actor = actor_of(request)
        owner = get_project(actor, project, Right.ADMINISTER)
        body = read_body(request, bodies.NewEndpoint)
        row = actions.create_endpoint(
            actor=actor, project=owner, key=body.key, secret=body.secret, **_settings(body)
        )
        return Response(bodies.ModelEndpoint.model_validate(row), status=201)


class EndpointView(Resource):
    @operation("read_endpoint", "One model endpoint", tag=TAG, answer=bodies.ModelEndpoint)
    def get(self, request: Request, project: str, endpoint: str) -> Response:
        read_query(request, NoQuery)
        actor = actor_of(request)
        row = queries.get_endpoint(actor, get_project(actor, project), endpoint)
        return Response(bodies.ModelEndpoint.model_validate(row))

    @operation(
        "change_endpoint",
        "Change what is given",
        tag=TAG,
        body=bodies.EndpointChange,
        answer=bodies.ModelEndpoint,
    )
    def patch(self, request: Request, project: str, endpoint: str) -> Response:
        """A new ``base_url`` on another host needs the secret again: it does not travel."""
        actor = actor_of(request)
        row = queries.get_endpoint(actor, get_project(actor, project, Right.ADMINISTER), endpoint)
        body = read_body(request, bodies.EndpointChange)
        changed = actions.update_endpoint(
            actor=actor, endpoint=row, secret=body.secret, **_settings(body)
        )
        return Response(bodies.ModelEndpoint.model_validate(changed))

    @operation(
        "archive_endpoint", "Put an endpoint away; its secret is erased", tag=TAG, status=204
    )
    def delete(self, request: Request, project: str, endpoint: str) -> Response:
        actor = actor_of(request)
        row = queries.get_endpoint(actor, get_project(actor, project, Right.ADMINISTER), endpoint)
        actions.archive_endpoint(actor=actor, endpoint=row)
        return Response(status=204)


class EndpointTestView(Resource):
    @operation("test_endpoint", "Ask one short question", tag=TAG, answer=bodies.EndpointTest)
    def post(self, request: Request, project: str, endpoint: str) -> Response:
        """A model that fails is an answer too: ``ok`` is false and ``reason`` says why."""
        read_body(request, NoBody)
        actor = actor_of(request)
        row = queries.get_endpoint(actor, get_project(actor, project, Right.ADMINISTER), endpoint)
        return Response(
            bodies.EndpointTest.model_validate(actions.test_endpoint(actor=actor, endpoint=row))
        )
