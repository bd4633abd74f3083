"""The API's description: the schema for programs, the page for people."""

from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
"""As everywhere, but Swagger UI writes styles into its elements; scripts stay files of ours."""


@cache
def _description() -> Any:
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    return generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]


class MadeOnce(SchemaGenerator):
    """The description is the same for everybody; looking at all the views again costs too much."""

    def get_schema(self, request: Request | None = None, public: bool = False) -> Any:
        return _description()


class SchemaView(SpectacularAPIView):
    """OpenAPI 3.1, as YAML or (``?format=json``) JSON."""

    generator_class = MadeOnce

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        answer: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        return answer


class DocsView(SpectacularSwaggerSplitView):
    """The browsable page. Works offline: its script comes with the product."""

    url_name = "api:schema"

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        answer: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        answer["Content-Security-Policy"] = DOCS_POLICY
        return answer
