"""Code that people paste to reach an environment from outside, with their own names filled in."""

import json
import shlex
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Snippets:
    """The same episode three ways: settings, the openreward client, plain HTTP."""

    env: str
    python: str
    curl: str


def snippets(
    address: str, project: str, environment: str, split: str, tools: list[Any]
) -> Snippets:
    """``tools`` decide how an answer is handed in: the closing message, or a tool's argument."""
    name = f"{project}/{environment}"
    call = _call(tools)
    return Snippets(
        env=_ENV.format(address=shlex.quote(address)),
        python=_PYTHON.format(
            name=json.dumps(name), split=json.dumps(split), answer=_handed(tools)
        ),
        curl=_CURL.format(
            address=shlex.quote(address),
            deployment=shlex.quote(f"X-Deployment: {name}"),
            environment=environment,
            create=shlex.quote(json.dumps({"split": split, "index": 0})),
            call=shlex.quote(json.dumps(call)),
        ),
    )


def _graded(tools: list[Any]) -> Any:
    """The tool that takes an answer: the terminal one first."""
    answers = [tool for tool in tools if tool.kind == "answer"]
    return next((tool for tool in answers if tool.is_terminal), answers[0] if answers else None)


def _call(tools: list[Any]) -> dict[str, Any]:
    tool = _graded(tools)
    if tool is None:
        return {"name": "answer", "input": {"text": "..."}}
    return {"name": tool.name, "input": {tool.argument: "..."} if tool.argument else {}}


def _handed(tools: list[Any]) -> str:
    tool = _graded(tools)
    if tool is not None and tool.is_terminal:
        return "session.call_terminal_tool(answer)"
    call = _call(tools)
    inner = ", ".join(f"{json.dumps(key)}: answer" for key in call["input"])
    return f"session.call_tool({json.dumps(call['name'])}, {{{inner}}})"


_ENV = """\
export OPENREWARD_API_KEY=tw_...
export OPENREWARD_SESSION_URL={address}
export OPENREWARD_API_URL={address}
"""

_PYTHON = """\
from openreward import OpenReward

client = OpenReward()
environment = client.environments.get({name})

for task in environment.list_tasks(split={split}):
    with environment.session(task=task) as session:
        messages = session.get_messages(format="openai")
        answer = ...  # what your model replies to these messages
        result = {answer}
        print(result.reward, result.finished)
"""

_CURL = """\
URL={address}
KEY=(-H "X-API-Key: $OPENREWARD_API_KEY" -H {deployment})

# Open a session; the answer is a stream whose task_id event carries its id.
SID=$(curl -sN -X POST "$URL/create_session" "${{KEY[@]}}" |
  sed -n '/^event: task_id/{{n;s/^data: //p;q}}')
HERE=("${{KEY[@]}}" -H "X-Session-ID: $SID" -H 'Content-Type: application/json')

curl -sw '\\n' "$URL/create" "${{HERE[@]}}" -d {create}
curl -sw '\\n' "$URL/{environment}/messages" "${{HERE[@]}}"
curl -sN "$URL/{environment}/call" "${{HERE[@]}}" -d {call}
curl -sw '\\n' -X POST "$URL/delete_session" "${{HERE[@]}}"
"""
