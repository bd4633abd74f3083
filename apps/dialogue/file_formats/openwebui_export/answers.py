"""An answer in Open WebUI's export: the items of ``output``, or HTML inside ``content``."""

import html
import re
from collections.abc import Iterator
from typing import Any

from apps.dialogue.file_formats.base import Note
from apps.dialogue.file_formats.turns import (
    PlacedTurn,
    call_part,
    decoded,
    reasoning_part,
    result_turn,
    text_part,
)

_DETAILS = re.compile(
    r"<details type=\"(reasoning|tool_calls|code_interpreter)\"([^<>]*)>(.*?)</details>\n?",
    re.DOTALL,
)
_SUMMARY = re.compile(r"\A\s*<summary>(.*?)</summary>\n?", re.DOTALL)
_ATTRIBUTE = re.compile(r"([\w-]+)=\"([^\"]*)\"")


def read_answer(
    message: dict[str, Any], kept: dict[str, Any], notes: list[Note], place: str
) -> list[PlacedTurn]:
    """Return the turns of an answer; ``kept`` goes into the detail of the first."""
    content, output = message.get("content"), message.get("output")
    answer = _Answer(kept, notes, place)
    is_html = isinstance(content, str) and any(_details(content))
    if isinstance(output, list) and output:
        if is_html:
            reason = "reasoning and calls are HTML there; the items of output were read instead"
            notes.append(Note("converted", f"{place}.content", reason, "html_in_content"))
        for index, item in enumerate(output):
            answer.item(item, f"{place}.output[{index}]")
    elif is_html:
        reason = "reasoning and calls that were HTML became blocks"
        notes.append(Note("converted", f"{place}.content", reason, "html_in_content"))
        answer.markup(str(content))
    elif isinstance(content, list):
        answer.parts += content
    elif content is not None and content != "":
        answer.parts.append(text_part(content) if isinstance(content, str) else content)
    return answer.finish()


class _Answer:
    def __init__(self, kept: dict[str, Any], notes: list[Note], place: str) -> None:
        self.parts: list[Any] = []
        self._turns: list[PlacedTurn] = []
        self._kept = kept
        self._notes = notes
        self._place = place
        self._unread: list[Any] = []
        self._calls = 0

    def finish(self) -> list[PlacedTurn]:
        if self.parts or self._unread or self._kept or not self._turns:
            self._say()
        return self._turns

    def item(self, item: object, place: str) -> None:
        """Read one item of ``output``."""
        kind = item.get("type") if isinstance(item, dict) else None
        if isinstance(item, dict) and kind in ("message", "reasoning"):
            known = {"type", "id", "role", "status", "content", "summary", "start_tag", "end_tag"}
            known |= {"attributes", "started_at", "ended_at", "duration"}
            rest = {key: value for key, value in item.items() if key not in known}
            for text in _texts(item.get("content")) or _texts(item.get("summary")):
                made = text_part if kind == "message" else reasoning_part
                self.parts.append(made(text, rest))
        elif isinstance(item, dict) and kind == "function_call" and _is_name(item.get("name")):
            self.parts.append(call_part(item["name"], item.get("arguments"), call_id=_id(item)))
        elif isinstance(item, dict) and kind == "function_call_output":
            self._result(item.get("output"), _id(item), place=place)
        elif isinstance(item, dict) and kind == "open_webui:code_interpreter":
            self._ran(item, place)
        else:
            reason = f"an item of the type {kind!r} is kept in detail.unread_parts"
            self._notes.append(Note("kept", place, reason, "unsupported_block"))
            self._unread.append(item)

    def markup(self, content: str) -> None:
        """Read a text with reasoning, calls and runs of code as HTML between its lines."""
        end = 0
        for found in _details(content):
            self._text(content[end : found.start()])
            end = found.end()
            attributes = {
                name: html.unescape(value) for name, value in _ATTRIBUTE.findall(found[2])
            }
            summary = _SUMMARY.match(found[3])
            body = found[3][summary.end() :] if summary else found[3]
            match found[1]:
                case "reasoning":
                    self.parts.append(reasoning_part(_unquoted(body)))
                case "tool_calls":
                    self._called(attributes, body)
                case _:
                    item = {"code": html.unescape(body).strip(), "output": attributes.get("output")}
                    self._ran(item, f"{self._place}.content")
        self._text(content[end:])

    def _text(self, text: str) -> None:
        if text.strip():
            self.parts.append(text_part(text.strip("\n")))

    def _called(self, attributes: dict[str, str], body: str) -> None:
        name = attributes.get("name")
        if not name:
            # The first versions wrote the result alone, without the call.
            reason = "a call without its name became a text"
            self._notes.append(Note("converted", f"{self._place}.content", reason, "tool_text"))
            self._text(html.unescape(body))
            return
        call_id = attributes.get("id") or self._fresh()
        arguments = decoded(attributes.get("arguments") or "{}")
        arguments = decoded(arguments)
        if not isinstance(arguments, dict):
            arguments = {"arguments": arguments}
        self.parts.append(call_part(name, arguments, call_id=call_id))
        result = attributes.get("result")
        if result or attributes.get("done") == "true":
            shown = decoded(result or body.strip())
            self._result(shown, call_id, place=f"{self._place}.content")

    def _ran(self, item: dict[str, Any], place: str) -> None:
        call_id = self._fresh()
        arguments = {"code": item.get("code")}
        if item.get("lang") or item.get("language"):
            arguments["language"] = item.get("lang") or item.get("language")
        self.parts.append(call_part("code_interpreter", arguments, call_id=call_id))
        if item.get("output") is not None:
            self._result(decoded(item["output"]), call_id, place=place)

    def _result(self, content: object, call_id: str | None, *, place: str) -> None:
        self._say()
        self._turns.append(PlacedTurn(place, result_turn(content, call_id=call_id)))

    def _say(self) -> None:
        """End a turn: a result follows, or the answer is over."""
        wire = {"role": "assistant", "content": self.parts, **self._kept}
        if self._unread:
            wire["unread_parts"] = self._unread
        if self.parts or self._unread or self._kept or not self._turns:
            self._turns.append(PlacedTurn(self._place, wire))
        self.parts, self._unread, self._kept = [], [], {}

    def _fresh(self) -> str:
        self._calls += 1
        name = self._place.rpartition(".")[2]
        reason = "the call had no id: one was made"
        self._notes.append(Note("invented", self._place, reason, "ids_invented"))
        return f"call_{name}_{self._calls}"


def _details(content: str) -> Iterator[re.Match[str]]:
    # Behind the last end there is nothing to find; looking there costs a look at the whole text.
    last = content.rfind("</details>")
    return _DETAILS.finditer(content, 0, last + len("</details>\n")) if last >= 0 else iter(())


def _texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content] if content else []
    texts = []
    for part in content if isinstance(content, list) else []:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str) and text:
            texts.append(text)
    return texts


def _id(item: dict[str, Any]) -> str | None:
    found = item.get("call_id") or item.get("id")
    return found if isinstance(found, str) and found else None


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _unquoted(body: str) -> str:
    """Return reasoning without the ``>`` that quotes its lines."""
    lines = html.unescape(body).strip("\n").split("\n")
    if all(line.startswith(">") or not line.strip() for line in lines):
        lines = [line.removeprefix("> ").removeprefix(">") for line in lines]
    return "\n".join(lines)
