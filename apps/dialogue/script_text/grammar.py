r"""What reading and writing a script share: markers, escapes, plain words and ids."""

import re
from typing import Final

ROLES: Final = {"s": "system", "u": "user", "a": "assistant"}
LETTERS: Final = {role: letter for letter, role in ROLES.items()}

STARTS: Final = {"reasoning": "assistant", "tool_call": "assistant", "tool_result": "user"}
"""The blocks that need no turn above them, and whose turn they start."""

_MARKER: Final = r"""(?:
    (?P<turn>[sua]):
  | (?P<more>\+):
  | (?P<think>think):
  | (?P<part>result\+)
  | (?P<result>result)(?=[ \t]*(?:\#|:|error[ \t]*:))
  | (?P<call>call)(?=[ \t]+(?:"|[^\n]*[{\#]|\S+[ \t]*$))
  | (?P<image>image)(?=[ \t]+(?:"|image/))
  | (?P<signature>signature)(?=[ \t]*")
  | (?P<detail>detail)(?=[ \t]*\{)
)"""
_UNNAMED: Final = re.sub(r"\?P<\w+>", "?:", _MARKER)

MARKER: Final = re.compile("^" + _MARKER, re.MULTILINE | re.VERBOSE)
"""A marker at the start of a line. Prose that only looks like one (``call me tomorrow``) is text;
what is a marker is read strictly, so that a slip is an error and never a text."""

_NEEDS_ESCAPE: Final = re.compile(rf"^(?=\\*{_UNNAMED}|\\+[ \t]*$)", re.MULTILINE | re.VERBOSE)
_ESCAPED: Final = re.compile(rf"^\\(?=\\*(?:{_UNNAMED}|[ \t]*$))", re.MULTILINE | re.VERBOSE)
_RETURN: Final = re.compile(r"(\\*)([\r␍])")
_WRITTEN_RETURN: Final = re.compile(r"(\\*)␍")

WORD: Final = re.compile(r'[^\s"#{}:]+')
"""A name or an id that needs no quotes."""

IMAGE_TYPE: Final = re.compile(r"image/[A-Za-z0-9.+-]+")
DATA: Final = re.compile(r'[^\s"]+')


def is_blank(line: str) -> bool:
    return not line.strip(" \t")


def escaped(text: str) -> str:
    """Write a text as the lines behind a marker: the first stands on the line of the marker."""
    if "\r" in text or "␍" in text:
        text = _RETURN.sub(_write_return, text)
    written = _NEEDS_ESCAPE.sub(r"\\", text)
    if written.startswith("\\") and not text.startswith("\\"):
        written = written[1:]  # behind a marker nothing is a marker
    if is_blank(written.partition("\n")[0]):
        written = "\\" + written
    if "\n" in written and is_blank(written[written.rindex("\n") + 1 :]):
        end = written.rindex("\n") + 1
        written = f"{written[:end]}\\{written[end:]}"
    return written


def unescaped(body: str) -> str | None:
    """Read the lines behind a marker; None if they are all blank."""
    core = body.rstrip(" \t\n")
    if not core:
        return None
    end = body.find("\n", len(core))
    kept = body if end < 0 else body[:end]
    start = len(kept) - len(kept.lstrip(" \t\n"))
    kept = kept[kept.rfind("\n", 0, start) + 1 :]
    if "\\" in kept:
        kept = _ESCAPED.sub("", kept)
    return _WRITTEN_RETURN.sub(_read_return, kept) if "␍" in kept else kept


def _write_return(found: re.Match[str]) -> str:
    slashes = found[1] * 2
    return f"{slashes}␍" if found[2] == "\r" else f"{slashes}\\␍"


def _read_return(found: re.Match[str]) -> str:
    half, literal = divmod(len(found[1]), 2)
    return "\\" * half + ("␍" if literal else "\r")


class CallIds:
    """The ids that calls and results have where a script names none.

    Told of every turn, call and result in order, it says what the next one would be.
    """

    def __init__(self) -> None:
        self._calls = 0
        self._waiting: list[str] = []

    def turn(self, role: str) -> None:
        if role != "user":
            self._waiting = []

    @property
    def next_call(self) -> str:
        return f"call_{self._calls + 1}"

    @property
    def next_result(self) -> str | None:
        """The call that the next result answers; None if none waits."""
        return self._waiting[0] if self._waiting else None

    def call(self, call_id: str) -> None:
        self._calls += 1
        self._waiting.append(call_id)

    def result(self, call_id: str) -> None:
        if call_id in self._waiting:
            self._waiting.remove(call_id)
