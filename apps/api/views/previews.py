"""What content would be sent as; nothing is saved."""

from collections.abc import Sequence

from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.errors import Invalid
from apps.accounts.queries import get_project
from apps.api.authentication import actor_of
from apps.api.bodies import previews as bodies
from apps.api.bodies.tasks import Unready
from apps.api.parsing import read_body
from apps.api.resource import Resource
from apps.api.schema import operation
from apps.dialogue.errors import DialogueError
from apps.dialogue.flattening import flatten
from apps.dialogue.message import Message
from apps.dialogue.provider_formats import FORMATS, convert
from apps.tasks.content import ready_problems
from apps.tasks.queries import get_environment

PROMPT = "prompt"


class PreviewsView(Resource):
    @operation(
        "preview_content",
        "The payloads of a conversation, and what is wrong in it",
        tag="tasks",
        body=bodies.PreviewWanted,
        answer=bodies.Preview,
    )
    def post(self, request: Request, project: str, environment: str) -> Response:
        """``prompt`` is what harnesses are served; the others are the formats of providers."""
        actor = actor_of(request)
        get_environment(actor, get_project(actor, project), environment)
        body = read_body(request, bodies.PreviewWanted)
        for index, name in enumerate(body.formats):
            if name != PROMPT and name not in FORMATS:
                known = ", ".join((PROMPT, *FORMATS))
                raise Invalid(f"{name[:60]!a} is not one of {known}.", place=f"formats[{index}]")
        unready = [
            Unready(place=each.place, message=each.message) for each in ready_problems(body.content)
        ]
        payloads = {name: _payload(name, body.content.messages) for name in body.formats}
        return Response(bodies.Preview(unready=unready, payloads=payloads))


def _payload(name: str, messages: Sequence[Message]) -> bodies.Payload:
    try:
        value = flatten(messages) if name == PROMPT else convert(messages, name)
    except DialogueError as refusal:
        return bodies.Payload(
            value=None, refused=Unready(place=refusal.place, message=refusal.message)
        )
    return bodies.Payload(value=value, refused=None)
