"""Inspect AI's logs: ``{"version", "status", "eval", "samples": [{"messages", "target", ...}]}``.

Texts that are long or stand there often are kept once, under ``attachments``, and messages of
events in a pool that the events point into (``condense_sample`` of inspect_ai/log).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, Row, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import PlacedTurn, as_tools, inspect_turns, read_placed_turns
from apps.dialogue.provider_formats.base import leftovers

_PROTOCOLS: Final = ("attachment://", "tc://")
_LEFT_OUT: Final = ("events", "events_data", "message_pool", "call_pool", "timelines", "output")
_READ: Final = frozenset({"id", "messages", "input", "attachments", *_LEFT_OUT})
_LOG: Final = frozenset({"version", "status", "error", "eval", "samples", "location", "etag"})
_HEADER: Final = ("task", "model", "run_id", "task_id", "created", "dataset")


def recognises(row: dict[str, Any]) -> bool:
    return (
        isinstance(row.get("eval"), dict)
        and "status" in row
        and ("version" in row or "samples" in row)
    )


def expand(row: Row) -> Iterator[Row]:
    samples = row.value.get("samples")
    if not isinstance(samples, list) or len(samples) < 2:
        yield row
        return
    for sample in samples:
        yield replace(row, value={**row.value, "samples": [sample]})


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    samples = row.get("samples")
    if not isinstance(samples, list) or not samples:
        reason = f"the log holds no sample; its status is {row.get('status')!r}"
        raise ImportRefused(reason, place="samples", code="empty_conversation")
    sample = samples[0]
    if not isinstance(sample, dict):
        raise ImportRefused("a sample must be an object", place="samples[0]", code="bad_row")
    attachments = _Attachments(sample.get("attachments"))
    turns = _conversation(sample, attachments, notes)
    messages = read_placed_turns(turns, notes)
    kept = attachments.resolved(leftovers(sample, _READ))
    asked = attachments.resolved(sample.get("input"))
    if isinstance(asked, str):
        kept["input"] = asked
    if tools := as_tools(attachments.resolved(_last_call(sample).get("tools"))):
        kept["tools"] = tools
    attachments.note(notes)
    _note_left_out(sample, notes)
    known = _header(row, notes)
    keyed = {"id": _key(row, sample), **kept, **({"eval": known} if known else {})}
    return content_of(keyed, messages, notes)


def _header(row: dict[str, Any], notes: list[Note]) -> dict[str, Any]:
    """Return what is kept of the log itself with each sample, and note what is not."""
    header = row.get("eval")
    header = header if isinstance(header, dict) else {}
    known = {key: header[key] for key in _HEADER if key in header}
    if row.get("status") not in (None, "success"):
        known.update({key: row[key] for key in ("status", "error") if row.get(key)})
    left = [key for key in row if key not in _LOG and row[key] not in (None, "", [], {})]
    left += [
        f"eval.{key}" for key in header if key not in _HEADER and header[key] not in (None, {}, [])
    ]
    if left:
        reason = f"{', '.join(left)} of the log left out: they are no part of what was said"
        notes.append(Note("dropped", "", reason, "log_header"))
    return known


@dataclass(slots=True)
class _Attachments:
    """The texts that others point to."""

    given: object
    taken: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)

    def resolved(self, value: Any) -> Any:
        """Return a value with every text that points to an attachment put in its place."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.resolved(each) for each in value]
        if isinstance(value, dict):
            return {key: self.resolved(each) for key, each in value.items()}
        return value

    def note(self, notes: list[Note]) -> None:
        if self.taken:
            reason = f"texts that were kept once were put back ({len(self.taken)})"
            notes.append(Note("converted", "samples[0].attachments", reason, "attachments"))
        if self.missing:
            reason = f"texts are not in the log: {', '.join(sorted(self.missing)[:5])}"
            notes.append(Note("kept", "samples[0].attachments", reason, "missing_attachments"))

    def _text(self, text: str) -> str:
        protocol = next((each for each in _PROTOCOLS if text.startswith(each)), None)
        if protocol is None:
            return text
        name = text.removeprefix(protocol)
        found = self.given.get(name) if isinstance(self.given, dict) else None
        (self.missing if not isinstance(found, str) else self.taken).add(name)
        return found if isinstance(found, str) else text


def _conversation(
    sample: dict[str, Any], attachments: _Attachments, notes: list[Note]
) -> list[PlacedTurn]:
    """Return the messages of a sample; of one that was cut off, those of its last call."""
    messages = sample.get("messages")
    if isinstance(messages, list) and messages:
        return inspect_turns(attachments.resolved(messages), notes, "samples[0].messages")
    call = _last_call(sample)
    if asked := _asked(call, sample):
        reason = "the sample has no messages; those of its last call of a model were taken"
        notes.append(Note("converted", "samples[0].events", reason, "from_events"))
        turns = inspect_turns(attachments.resolved(asked), notes, "samples[0].events.input")
        answer = attachments.resolved(_answer(call.get("output")))
        return turns + inspect_turns(answer, notes, "samples[0].events.output")
    asked = attachments.resolved(sample.get("input"))
    if isinstance(asked, str):
        return [PlacedTurn("samples[0].input", {"role": "user", "content": asked})] if asked else []
    return inspect_turns(asked or [], notes, "samples[0].input")


def _last_call(sample: dict[str, Any]) -> dict[str, Any]:
    events = sample.get("events")
    for event in reversed(events if isinstance(events, list) else []):
        if isinstance(event, dict) and event.get("event") == "model":
            return event
    return {}


def _asked(call: dict[str, Any], sample: dict[str, Any]) -> list[Any]:
    """Return the input of a call: written out, or ranges of the pool ``[[start, end], ...]``."""
    asked = call.get("input")
    if isinstance(asked, list) and asked:
        return asked
    data = sample.get("events_data")
    pool = sample.get("message_pool") or (data.get("messages") if isinstance(data, dict) else None)
    refs = call.get("input_refs")
    if not isinstance(pool, list) or not isinstance(refs, list):
        return []
    found: list[Any] = []
    for each in refs:
        span = each if isinstance(each, list) else [each, each + 1 if _is_index(each) else None]
        if len(span) != 2 or not all(_is_index(one) for one in span) or span[1] > len(pool):
            place = "samples[0].events.input_refs"
            raise ImportRefused(f"{each!r} is no range of the pool", place=place, code="bad_row")
        found += pool[span[0] : span[1]]
    return found


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _answer(output: object) -> list[Any]:
    choices = output.get("choices") if isinstance(output, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return [message] if isinstance(message, dict) else []


def _note_left_out(sample: dict[str, Any], notes: list[Note]) -> None:
    left = [name for name in _LEFT_OUT if sample.get(name)]
    if left:
        reason = f"{', '.join(left)} of the sample left out: the messages tell what was said"
        notes.append(Note("dropped", "samples[0]", reason, "events"))


def _key(row: dict[str, Any], sample: dict[str, Any]) -> Any:
    """Return the id of a sample; where it was played several times, with its epoch behind."""
    config = row["eval"].get("config") if isinstance(row.get("eval"), dict) else None
    epochs = config.get("epochs") if isinstance(config, dict) else None
    epoch = sample.get("epoch")
    if sample.get("id") is None or (epoch in (None, 1) and epochs in (None, 1)):
        return sample.get("id")
    return f"{sample['id']}_epoch_{epoch}"


FORMAT = RowFormat("inspect_log", "Inspect AI logs", recognises, read, expand=expand)
