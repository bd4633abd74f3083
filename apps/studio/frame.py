"""What every page's frame needs: the rail, the breadcrumb's project, the person."""

from typing import Any

from django.http import HttpRequest


def frame(request: HttpRequest) -> dict[str, Any]:
    """Template context of the frame around each page."""
    return {}
