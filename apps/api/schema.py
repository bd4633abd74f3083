"""How the API describes itself (OpenAPI 3.1): operations, pydantic models, ways to sign in."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from drf_spectacular.contrib.pydantic import PydanticExtension
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from pydantic.json_schema import model_json_schema

from apps.api.parsing import Query
from apps.api.problems import CONTENT_TYPE, Problem

View = TypeVar("View", bound=Callable[..., Any])

PROBLEM = OpenApiResponse(Problem, "What went wrong, as problem details (RFC 9457).")


class PydanticModels(PydanticExtension):  # type: ignore[no-untyped-call]
    """Models as they are read: a field with a default may be left out."""

    target_class = "pydantic.BaseModel"
    match_subclasses = True
    priority = 1

    def map_serializer(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        schema = model_json_schema(self.target, ref_template="#/components/schemas/{model}")
        for name, part in schema.pop("$defs", {}).items():
            component = ResolvedComponent(  # type: ignore[no-untyped-call]
                name=name, type=ResolvedComponent.SCHEMA, object=name, schema=part
            )
            auto_schema.registry.register_on_missing(component)
        return schema


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "apps.api.authentication.KeyAuthentication"
    name = ["apiKey", "bearerKey"]

    def get_security_requirement(self, auto_schema: AutoSchema) -> list[dict[str, list[str]]]:
        return [{name: []} for name in self.name]

    def get_security_definition(self, auto_schema: AutoSchema) -> list[dict[str, str]]:
        return [
            {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            {"type": "http", "scheme": "bearer"},
        ]


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "apps.api.authentication.StudioSessionAuthentication"
    name = "studioSession"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}


def operation(
    name: str,
    summary: str,
    *,
    tag: str,
    answer: Any = None,
    status: int | tuple[int, ...] = 200,
    body: Any = None,
    query: type[Query] | None = None,
) -> Callable[[View], View]:
    """Describe one method of one address.

    ``answer`` is a pydantic model, or a dict of media type to model or schema; None: no body. It
    comes with ``status``, or with one of several.
    ``body`` likewise. Every operation may also answer with a problem.
    """
    answers: dict[Any, Any] = {}
    for each in status if isinstance(status, tuple) else (status,):
        if isinstance(answer, dict):
            answers |= {(each, media): shape for media, shape in answer.items()}
        else:
            answers[each] = answer
    answers["default", CONTENT_TYPE] = PROBLEM

    def described(method: View) -> View:
        describe = extend_schema(
            operation_id=name,
            summary=summary,
            description=inspect.getdoc(method) or f"{summary}.",
            tags=[tag],
            request=body,
            responses=answers,
            parameters=parameters_of(query) if query else None,
        )
        return describe(method)

    return described


def parameters_of(query: type[Query]) -> list[OpenApiParameter]:
    """One query parameter for each field of ``query``."""
    schema = model_json_schema(query)
    needed = schema.get("required", [])
    parameters = []
    for name, part in schema.get("properties", {}).items():
        shape = {key: value for key, value in part.items() if key not in {"description", "title"}}
        parameters.append(
            OpenApiParameter(
                name,
                type=shape,
                location=OpenApiParameter.QUERY,
                required=name in needed,
                description=part.get("description", ""),
            )
        )
    return parameters
