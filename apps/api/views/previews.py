"""What content would be sent as; nothing is saved."""

from collections.abc import Sequence

from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import get_project
from apps.api.authentication import actor_of
from apps.api.bodies import previews as bodies
from apps.api.bodies.tasks import Unready
from apps.api.parsing import read_body
from apps.api.resource import Resource
from apps.api.schema import operation
from apps.dialogue.message import Message
from apps.dialogue.token_counts import count_tokens
from apps.tasks.content import ready_problems
from apps.tasks.previews import check_formats, offered_tools, payload, sending_problems
from apps.tasks.queries import get_environment


class PreviewsView(Resource):
    @operation(
        "preview_content",
        "The payloads of a conversation, what is wrong in it, and its tokens",
        tag="tasks",
        body=bodies.PreviewWanted,
        answer=bodies.Preview,
    )
    def post(self, request: Request, project: str, environment: str) -> Response:
        """``prompt`` is what harnesses are served; the others are the formats of providers."""
        actor = actor_of(request)
        row = get_environment(actor, get_project(actor, project), environment)
        body = read_body(request, bodies.PreviewWanted)
        check_formats(body.formats)
        content = body.content
        offered = offered_tools(actor, row, content)
        problems = {name: sending_problems(content, name, offered) for name in body.formats}
        preview = bodies.Preview(
            unready=[
                Unready(place=each.place, message=each.message) for each in ready_problems(content)
            ],
            payloads={name: _payload(name, content.messages) for name in body.formats},
            problems={
                name: [bodies.SendingProblem.model_validate(each) for each in found]
                for name, found in problems.items()
            },
            tokens=bodies.Tokens.model_validate(count_tokens(content.messages)),
        )
        return Response(preview)


def _payload(name: str, messages: Sequence[Message]) -> bodies.Payload:
    made = payload(messages, name)
    if made.refusal is None:
        return bodies.Payload(value=made.value, refused=None)
    refused = Unready(place=made.refusal.place, message=made.refusal.message)
    return bodies.Payload(value=None, refused=refused)
