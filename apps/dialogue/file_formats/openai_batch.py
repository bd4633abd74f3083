"""Requests and results of OpenAI's Batch API: ``{"custom_id", "method", "url", "body"}``.

A line of results has ``response.body`` in place of ``body``: the answer alone, without the
conversation it answers.
"""

from typing import Any, Final

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of, with_key
from apps.dialogue.file_formats.turns import read_response_items, read_turns, with_tools
from apps.dialogue.message import Message, text_message

_WITHOUT_CONVERSATION: Final = ("/embeddings", "/moderations", "/images/generations")


def recognises(row: dict[str, Any]) -> bool:
    return "custom_id" in row and (
        isinstance(row.get("body"), dict) or _answer(row) is not None or _failed(row) is not None
    )


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    body = row.get("body")
    if isinstance(body, dict):
        url = row.get("url")
        if isinstance(url, str) and url.rstrip("/").endswith(_WITHOUT_CONVERSATION):
            fault = f"a request to {url!r} is no conversation"
            raise ImportRefused(fault, place="url", code="missing_messages")
        messages, used = _read_request(body, notes)
        place = "body"
    else:
        body = _answer(row)
        if failed := _failed(row):
            raise ImportRefused(failed, place="error", code="missing_messages")
        if body is None:
            raise ImportRefused(f"must be an object, not {kind_of(row.get('body'))}", place="body")
        messages, used = _read_answer(body, notes), ("output",)
        body = _without_answer(body)
        place = "response"
        fault = "a result has the answer alone; the conversation is in the file of requests"
        notes.append(Note("kept", place, fault, "needs_request_file"))
    parts = with_tools({key: value for key, value in row.items() if key != "body"}, notes)
    rest = {key: value for key, value in body.items() if key not in (*used, "tools", "functions")}
    tools = {key: body[key] for key in ("tools", "functions") if key in body}
    parts = with_key({**parts, **with_tools(tools, notes)}, row.get("custom_id"), notes)
    if place == "body" and rest:
        parts["body"] = rest
    elif place == "response":
        parts["response"] = {**row["response"], "body": rest}
    return content_of(parts, messages, notes, used=("custom_id",))


def _answer(row: dict[str, Any]) -> dict[str, Any] | None:
    response = row.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    return body if isinstance(body, dict) else None


def _failed(row: dict[str, Any]) -> str | None:
    """Return why a line of results has no answer, None where it has one or is no such line."""
    error = row.get("error")
    if _answer(row) is None and "response" in row and isinstance(error, dict):
        return f"the request was not answered: {error.get('message') or error.get('code')}"
    body = _answer(row) or {}
    error = body.get("error")
    if isinstance(error, dict) and "choices" not in body and "output" not in body:
        return f"the request was not answered: {error.get('message') or error.get('code')}"
    return None


def _read_request(
    body: dict[str, Any], notes: list[Note]
) -> tuple[tuple[Message, ...], tuple[str, ...]]:
    """Return the conversation of a request to any of the APIs, and the keys it was made of."""
    if "messages" in body:
        return read_turns(body["messages"], notes, place="body.messages"), ("messages",)
    instructions = body.get("instructions")
    before = (text_message("system", instructions),) if isinstance(instructions, str) else ()
    used = ("input", "instructions") if before else ("input",)
    given = body.get("input")
    if isinstance(given, list) and all(isinstance(each, dict) for each in given) and given:
        return before + read_response_items(given, notes, place="body.input"), used
    if isinstance(given, str) and "embedding" not in str(body.get("model")):
        return (*before, text_message("user", given)), used
    if isinstance(body.get("prompt"), str):
        return (text_message("user", body["prompt"]),), ("prompt",)
    fault = "there is no conversation: no messages, no input, no prompt"
    raise ImportRefused(fault, place="body", code="missing_messages")


def _without_answer(body: dict[str, Any]) -> dict[str, Any]:
    """Return an answer's body without the message of its first choice; other choices stay."""
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return body
    first = {key: value for key, value in choices[0].items() if key != "message"}
    if first or choices[1:]:
        return {**body, "choices": [first, *choices[1:]]}
    return {key: value for key, value in body.items() if key != "choices"}


def _read_answer(body: dict[str, Any], notes: list[Note]) -> tuple[Message, ...]:
    place = "response.body"
    choices = body.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        wire = choices[0].get("message")
        if isinstance(wire, dict):
            turns = [{"role": "assistant", **wire}]
            return read_turns(turns, notes, place=f"{place}.choices")
    if isinstance(body.get("output"), list):
        return read_response_items(body["output"], notes, place=f"{place}.output")
    fault = "there is no answer: no choices, no output"
    raise ImportRefused(fault, place=place, code="missing_messages")


FORMAT = RowFormat("openai_batch", "OpenAI batch requests", recognises, read)
