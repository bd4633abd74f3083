"""The API's description: the schema for programs, the page for people."""

from typing import Any

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


class SchemaView(SpectacularAPIView):
    """OpenAPI 3.1, as YAML or (``?format=json``) JSON."""

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
