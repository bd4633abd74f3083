"""An import as its page shows it: the conversation of a row, who speaks, columns to be mapped."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import yaml

from apps.dialogue.candidates import Candidate
from apps.dialogue.column_mapping import parse_mapping, suggest
from apps.dialogue.errors import DialogueError
from apps.dialogue.message import Message
from apps.studio.excerpts import LONGEST_NAME, Room, beginning, excerpt, excerpt_of_detail
from apps.studio.figures import count
from apps.studio.forms.importing import COLUMN_USES, expression_for
from apps.studio.reading import ShownAnswer, ShownMessage, show_part

LONGEST_VALUE = 120
VALUES_SHOWN = 3
COLUMNS_SHOWN = 200
TURNS_SHOWN = 400
ANSWERS_SHOWN = 50
ANSWER_TURNS_SHOWN = 50
LONGEST_MAPPING = 200_000
"""Characters of YAML that a page offers to be edited."""

_COLUMNS_SUGGESTED_FROM = 2_000


@dataclass(frozen=True, slots=True)
class ProposedTurn:
    """A turn whose role can be corrected: ``turn`` is ``#row:index``, ``role`` what it is now.

    ``left_out`` says what of it is not shown.
    """

    shown: ShownMessage
    turn: str
    role: str
    speaker: str
    left_out: str


@dataclass(frozen=True, slots=True)
class ProposedTurns:
    """Some turns of a row: how many there are, where the ones before and behind begin, if any."""

    turns: list[ProposedTurn]
    all: int
    before: int | None
    behind: int | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the file, its first values and what a mapping uses it as.

    ``number`` counts all columns from 0, ``title`` is the beginning of its name.
    """

    number: int
    name: str
    title: str
    values: list[str]
    use: str


def proposed_turns(row: int, messages: Sequence[Message], first: int = 0) -> ProposedTurns:
    """Turns of the row of that number, from the ``first`` on (the last, if there are fewer).

    A speaker stands beside the turn, not in its detail.
    """
    first = min(first, max(0, len(messages) - 1))
    room = Room()
    end = min(first + TURNS_SHOWN, len(messages))
    part = {index: excerpt(messages[index], room) for index in range(first, end)}
    shown = show_part(
        messages, {index: each.message for index, each in part.items()}, prefix="proposed"
    )
    turns = [
        _turn(messages[index], each, f"#{row}:{index}", part[index].left_out)
        for index, each in zip(part, shown, strict=True)
    ]
    return ProposedTurns(
        turns,
        len(messages),
        before=max(0, first - TURNS_SHOWN) if first else None,
        behind=end if end < len(messages) else None,
    )


def _turn(message: Message, shown: ShownMessage, turn: str, left_out: str) -> ProposedTurn:
    speaker = _speaker(message)
    if speaker and message.detail == {"speaker": speaker}:
        shown = replace(shown, detail="")
    return ProposedTurn(shown, turn, _role(message), speaker, left_out)


def proposed_answers(candidates: Sequence[Candidate]) -> list[ShownAnswer]:
    """The first answers of a row, each with its first turns."""
    room = Room()
    return [
        _answer(each, f"answer-{number}", room)
        for number, each in enumerate(candidates[:ANSWERS_SHOWN], start=1)
    ]


def _answer(candidate: Candidate, prefix: str, room: Room) -> ShownAnswer:
    part = [excerpt(message, room) for message in candidate.messages[:ANSWER_TURNS_SHOWN]]
    detail, left_out = excerpt_of_detail(candidate.detail, room)
    said = [*(each.left_out for each in part), left_out]
    if (more := len(candidate.messages) - len(part)) > 0:
        said.append(f"And {count(more)} more turns, not shown here.")
    return ShownAnswer(
        verdict=candidate.verdict,
        model=_short(candidate.model, LONGEST_NAME),
        messages=show_part(
            candidate.messages,
            {index: each.message for index, each in enumerate(part)},
            prefix=prefix,
        ),
        detail=detail,
        left_out=" ".join(filter(None, said)),
    )


def _role(message: Message) -> str:
    is_tool = message.role == "user" and any(b.type == "tool_result" for b in message.blocks)
    return "tool" if is_tool else message.role


def _speaker(message: Message) -> str:
    name = (message.detail or {}).get("speaker")
    return name if isinstance(name, str) and len(name) <= LONGEST_NAME else ""


def column_names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every column of the first rows, in their order."""
    return list(dict.fromkeys(name for row in rows for name in row))


def columns_of(
    rows: Sequence[Mapping[str, Any]], mapping: Mapping[str, Any] | None
) -> list[Column]:
    """The columns of the first rows, in their order, with what ``mapping`` uses each as.

    Of very many only the first ones, and of the others those that are used.
    """
    uses = _uses(mapping or {})
    found = [
        (number, name, uses.get(expression_for(name), "attribute"))
        for number, name in enumerate(column_names(rows))
    ]
    shown = sorted(found, key=lambda each: each[2] == "attribute")[:COLUMNS_SHOWN]
    return [
        Column(number, name, _short(name, LONGEST_VALUE), _values(rows, name), use)
        for number, name, use in sorted(shown)
    ]


def _values(rows: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    values = [_value(row[name]) for row in rows if row.get(name) not in (None, "")]
    return list(dict.fromkeys(values))[:VALUES_SHOWN]


def _value(value: object) -> str:
    if isinstance(value, str):
        return _short(value, LONGEST_VALUE)
    written = yaml.safe_dump(
        beginning(value, LONGEST_VALUE),
        default_flow_style=True,
        allow_unicode=True,
        width=10**6,
        sort_keys=False,
    )
    return _short(written.removesuffix("\n...\n").strip(), LONGEST_VALUE)


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _uses(mapping: Mapping[str, Any]) -> dict[str, str]:
    """The use of each expression in a mapping that was chosen column by column."""
    uses: dict[str, str] = {}
    for use in ("key", "tools", "conversation", "chosen", "rejected", "tags"):
        found = mapping.get(use)
        for source in found if isinstance(found, list) else [found]:
            if isinstance(source, str):
                uses[source] = use
            elif isinstance(source, dict) and source.get("role") in COLUMN_USES:
                uses[str(source.get("content"))] = source["role"]
    return uses


def suggested_mapping(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """A mapping to begin with; None where no column looks like something that was said."""
    known = set(column_names(rows)[:_COLUMNS_SUGGESTED_FROM])
    rows = [{name: row[name] for name in row if name in known} for row in rows]
    try:
        return suggest(rows).to_data() if rows else None
    except DialogueError:
        return None


def mapping_text(mapping: Mapping[str, Any] | None) -> str:
    """A mapping as YAML to be edited; as it is if it does not hold."""
    if not mapping:
        return ""
    with suppress(DialogueError):  # shown as it was sent: the page says what is wrong with it
        mapping = parse_mapping(dict(mapping)).to_data()
    return yaml.safe_dump(dict(mapping), allow_unicode=True, sort_keys=False, width=88)
