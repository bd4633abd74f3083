"""How texts mark who speaks: at the beginning of a line, in one of a few ways."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from apps.dialogue.file_formats.turns.speaker_names import EVERYDAY, LETTERS, WORDS, known_role

_KNOWN: Final = "|".join(
    re.escape(word).replace(r"\ ", r"[ _]") for word in sorted(WORDS, key=len, reverse=True)
)
_TIME: Final = r"[\d:./,\- ]{4,24}(?:\s?[AaPp]\.?[Mm]\.?)?"
_NAME: Final = r"[^\W\d_][^\n:\[\]<>{}|`*#]{0,59}?"

_COLON: Final = "[:\uff1a]"
_REST: Final = r"[ \t]?(?P<rest>.*)$"
_STRONG: Final = r"(?:\*\*|__)"


def _usual(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which NAME is a usual speaker and REST what follows on the line.

    STRONG are the marks of bold text, and COLON is also the wide one of Chinese.
    """
    named = pattern.replace("NAME", rf"(?P<name>{_KNOWN})").replace("REST", _REST)
    named = named.replace("STRONG", _STRONG).replace("COLON", _COLON).replace("TIME", _TIME)
    return re.compile(named, re.IGNORECASE)


_PATTERNS: Final[dict[str, re.Pattern[str]]] = {
    # Like "## User" and "### Human: hi".
    "heading": _usual(r"#{1,6}\s*\**NAME\**(?:\s*COLON\**REST|\s*$)"),
    # Like "**You:** bye" and "- **Bot**: ciao".
    "bold": _usual(r"(?:[-*]\s+)?STRONGNAME\s*(?:COLONSTRONG|STRONG\s*COLON)REST"),
    # Like "**User**" on a line of its own.
    "bold line": _usual(r"STRONGNAMESTRONG\s*$"),
    # Like "You said:" and "Claude responded: hi".
    "said": _usual(r"(?:#{1,6}\s*)?NAME (?:said|responded|replied)\s?COLONREST"),
    # Like "User: hi", "Assistant (some-model): hi" and "Tool (find): 5".
    "colon": _usual(
        r"(?:[\u2600-\U0001faff\ufe0f\u200d]+\s*)?NAME"
        r"(?:\s*\((?:(?P<time>TIME)|(?P<label>[^()]{1,60}))\))?\s?COLONREST"
    ),
    # Like "[User] hi", "<user> hi" and "[tool_result (error)]".
    "bracket": _usual(r"[\[<(]NAME(?P<failed> \(error\))?[\])>]\s*COLON?REST"),
    # Like "2024-05-01 09:14:02 user: hi".
    "moment": _usual(r"(?P<time>TIME)\s+NAME\s?COLONREST"),
    # Like "[09:14] Priya (customer): hi" and "12/31/23, 9:14 PM - Priya: hi".
    "time": re.compile(
        rf"(?:\[(?P<time>{_TIME})\]|(?P<when>{_TIME})\s[-\u2013])\s*(?P<name>{_NAME})\s?{_COLON}{_REST}"
    ),
}
_KINDS: Final = {"bold": "heading", "bold line": "heading", "said": "colon", "moment": "time"}
"""Styles that are of one kind: those of Markdown, plain words, words behind a time."""

_NAMED: Final = re.compile(rf"(?P<name>{_NAME})\s?(?::[ \t]|\uff1a)(?P<rest>.*)$")
_LETTER: Final = re.compile(
    r"(?P<name>[SUAHQT])\d{0,3}\s?(?::[ \t]|\uff1a)(?P<rest>.*)$", re.IGNORECASE
)
_ALONE: Final = re.compile(rf"(?P<name>{_KNOWN})\s*$", re.IGNORECASE)
_FEW: Final = 4
_LABELS: Final = frozenset((
    "note", "notes", "warning", "tip", "example", "error", "hint", "ps", "p.s", "update", "summary",
    "subject", "date", "to", "from", "re", "cc", "http", "https", "todo", "fixme", "important",
    "step", "title", "author", "version", "name", "email", "phone", "address", "order", "total",
    "price", "url", "link", "source", "output", "input", "usage", "returns", "args", "see",
))  # fmt: skip
"""Words that mostly name a thing and no speaker when a colon follows."""

_FENCE: Final = re.compile(r"\s*(?P<fence>`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Mark:
    """A line that begins a turn: its number from 0, who speaks, and the text behind the name.

    ``label`` is what stands in brackets behind the name; ``failed`` tells an error of a tool.
    """

    line: int
    style: str
    name: str
    rest: str
    time: str = ""
    label: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Marks:
    """The beginnings of the turns, and the lines in code that only look like one."""

    found: tuple[Mark, ...]
    in_code: tuple[Mark, ...]


def find_marks(lines: Sequence[str]) -> Marks:
    """Find the beginnings of turns in a text.

    Lines inside fenced code are none. Words like User are taken; letters (``q:``) and names of
    persons (``Ann:``) only where there are no such words and the text begins with one. Words that
    prose has before a colon too (``System:``, ``Model:``) are taken where the text begins with a
    mark of their kind.
    """
    code = _code(lines)
    marks = [mark for number, line in enumerate(lines) if (mark := _known(number, line))]
    marks = _without_prose(lines, marks)
    if not marks or _begins_with_name(lines, marks):
        marks = _letters(lines, code) or _names(lines, code) or marks
    marks = marks or _alone(lines, code)
    outside = tuple(mark for mark in marks if mark.line not in code)
    return Marks(outside, tuple(mark for mark in marks if mark.line in code))


def _without_prose(lines: Sequence[str], marks: Sequence[Mark]) -> list[Mark]:
    """Leave out everyday words that begin a line of prose.

    A tool answers an assistant, so that its word is taken below one as well.
    """
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    begun = marks[0] if marks and marks[0].line == first else None
    kept: list[Mark] = []
    for mark in marks:
        role = EVERYDAY.get(mark.name.lower().replace("_", " "))
        if role == "tool":
            taken = begun is not None or bool(kept)
        else:
            taken = role is None or (begun is not None and _kind(begun) == _kind(mark))
        if taken:
            kept.append(mark)
    return kept


def _kind(mark: Mark) -> str:
    return _KINDS.get(mark.style, mark.style)


def begins_with_mark(text: str) -> bool:
    """Whether the first line of a text that is not blank names a usual speaker."""
    head = text[:4000].lstrip()
    return _known(0, head.partition("\n")[0]) is not None


def _known(number: int, line: str) -> Mark | None:
    stripped = line.strip()
    if len(stripped) < 2 or len(line) - len(line.lstrip()) > 3:
        return None
    for style, pattern in _PATTERNS.items():
        if found := pattern.match(stripped):
            return _mark(number, style, found, line)
    return None


def _mark(number: int, style: str, found: re.Match[str], line: str) -> Mark:
    groups = found.groupdict()
    rest = groups.get("rest") or ""
    if rest:  # with the spaces at its end
        rest += line[len(line.rstrip()) :]
    time = groups.get("time") or groups.get("when") or ""
    return Mark(
        number,
        style,
        found["name"].strip(),
        rest,
        time.strip(),
        label=(groups.get("label") or "").strip(),
        failed=bool(groups.get("failed")),
    )


def _begins_with_name(lines: Sequence[str], marks: Sequence[Mark]) -> bool:
    """Whether the text begins, before any usual speaker, with another kind of name."""
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    return marks[0].line > first and _NAMED.match(lines[first].strip()) is not None


def _letters(lines: Sequence[str], code: frozenset[int]) -> list[Mark]:
    marks = [
        _mark(number, "letter", found, line)
        for number, line in enumerate(lines)
        if (found := _LETTER.match(line))
    ]
    outside = [mark for mark in marks if mark.line not in code]
    roles = {LETTERS[mark.name.lower()] for mark in outside}
    begins = bool(outside) and not "".join(lines[: outside[0].line]).strip()
    return marks if begins and {"user", "assistant"} <= roles else []


def _alone(lines: Sequence[str], code: frozenset[int]) -> list[Mark]:
    """Usual speakers on lines of their own, as a page of chat is copied: You, ChatGPT."""
    marks = [
        _mark(number, "line", found, line)
        for number, line in enumerate(lines)
        if number not in code and (found := _ALONE.match(line))
    ]
    if not marks or "".join(lines[: marks[0].line]).strip():
        return []
    roles = {known_role(mark.name) for mark in marks}
    return marks if {"user", "assistant"} <= roles else []


def _names(lines: Sequence[str], code: frozenset[int]) -> list[Mark]:
    """Names of persons: the text begins with one, and there are two, or one speaks twice."""
    marks = [
        _mark(number, "name", found, line)
        for number, line in enumerate(lines)
        if (found := _NAMED.match(line)) and _is_a_name(found["name"])
    ]
    outside = [mark for mark in marks if mark.line not in code]
    if len(outside) < 2 or "".join(lines[: outside[0].line]).strip():
        return []
    times: dict[str, int] = {}
    for mark in outside:
        times[mark.name] = times.get(mark.name, 0) + 1
    if len(times) > _FEW:  # a word before a colon that stands once is hardly a speaker
        speakers = {name for name, count in times.items() if count > 1}
        marks = [mark for mark in marks if mark.name in speakers or mark is outside[0]]
    return marks


def _is_a_name(text: str) -> bool:
    """Whether it looks like a name: few words, the first with a capital."""
    if text.lower() in _LABELS:
        return False
    return text[0].isupper() and len(text.split()) <= 5 and not text.endswith((",", ";"))


def _code(lines: Sequence[str]) -> frozenset[int]:
    """Return the numbers of the lines inside fenced code; a fence that never closes is none."""
    inside: set[int] = set()
    unclosed: set[str] = set()
    number = 0
    while number < len(lines):
        opening = _opening(lines[number])
        if opening and opening not in unclosed:
            end = _closing(lines, number, opening)
            if end:
                inside.update(range(number + 1, end + 1))
                number = end
            else:  # neither does one below close it
                unclosed.add(opening)
        number += 1
    return frozenset(inside)


def _opening(line: str) -> str:
    """Return the fence a line begins code with, also behind the name of a speaker."""
    mark = _known(0, line) or None
    found = _FENCE.match(mark.rest if mark and mark.rest else line)
    if found is None and (named := _NAMED.match(line)):
        found = _FENCE.match(named["rest"])
    return found["fence"] if found else ""


def _closing(lines: Sequence[str], opened: int, fence: str) -> int:
    for number in range(opened + 1, len(lines)):
        stripped = lines[number].strip()
        if stripped.startswith(fence) and not stripped.strip(fence[0]):
            return number
    return 0


def parts_between(lines: Sequence[str], marks: Sequence[Mark]) -> Iterator[tuple[Mark, list[str]]]:
    """Give each mark with the lines below it, up to the next one."""
    for index, mark in enumerate(marks):
        end = marks[index + 1].line if index + 1 < len(marks) else len(lines)
        yield mark, list(lines[mark.line + 1 : end])
