"""What every view of the management API shares: one address, its methods, JSON out."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic_core import to_json
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.api.parsing import check_address


class JsonRenderer(BaseRenderer):
    """UTF-8 JSON of dicts, lists, numbers, texts and pydantic models, key order kept."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else to_json(data)


class JsonAlways(BaseContentNegotiation):
    """There is one representation; ``Accept`` and ``?format=`` choose nothing here."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        sent = request.content_type.partition(";")[0].strip().lower()
        return next((each for each in parsers if each.media_type == sent), None)

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        only = next(iter(renderers))
        return only, only.media_type or ""


class Resource(APIView):
    """One address of the API. Every method names who asks in the query or action it calls."""

    renderer_classes = (JsonRenderer,)
    content_negotiation_class = JsonAlways
    metadata_class = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        check_address(kwargs)
