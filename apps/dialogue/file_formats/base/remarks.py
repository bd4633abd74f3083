"""What a person who imports conversations wants to hear of them, whatever their format."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final

from apps.dialogue.blocks import Block, TextBlock, ToolResultBlock
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.base.rows import TaskContent
from apps.dialogue.message import Message
from apps.dialogue.pairing import pairing_problems

VERY_LONG: Final = 200_000
"""Characters of a text that few models read and no page shows with ease (some 50,000 tokens)."""

_KEY_SIGNS: Final = (
    "sk-",
    "key-",
    "gh",
    "glpat-",
    "xox",
    "AKIA",
    "ASIA",
    "AIza",
    "hf_",
    "-----BEGIN",
    "eyJ",
)
_KEY = re.compile(
    r"\b(?:sk-(?:[a-z]+-)*[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}"
    r"|hf_[A-Za-z0-9]{20,}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})*\.[A-Za-z]{2,}\b")
_CARD = re.compile(r"(?<![\w.-])\d{4}(?:[ -]?\d){9,15}(?![\w-])")
_TEN_DIGITS = re.compile(r"\d{4}[ -]?\d{4}")


def remarks_on(task: TaskContent, given: Collection[str]) -> Iterator[Note]:
    """Say what is noteworthy in a conversation, but for the codes that were ``given`` already."""
    for note in (*_on_order(task.messages), *_on_results(task.messages), *_on_texts(task.messages)):
        if note.code not in given:
            yield note


def _on_order(messages: Sequence[Message]) -> Iterator[Note]:
    spoken = [(index, each) for index, each in enumerate(messages) if each.role != "system"]
    roles = {message.role for _, message in spoken}
    # Only where both speak do they take turns: a script of user turns, between which a model is
    # asked, and a list of answers are right as they are.
    if roles == {"user", "assistant"}:
        if spoken[0][1].role == "assistant":
            said = "the conversation begins with the assistant"
            yield Note("kept", f"messages[{spoken[0][0]}]", said, "starts_with_assistant")
        for (_, before), (index, message) in pairwise(spoken):
            if before.role == message.role and not (_has_result(before) or _has_result(message)):
                said = f"the {message.role} speaks twice running"
                yield Note("kept", f"messages[{index}]", said, "same_role_twice")
                break
    if spoken:
        for index, message in enumerate(messages[spoken[0][0] :], start=spoken[0][0]):
            if message.role == "system":
                said = "a system message after the conversation began"
                yield Note("kept", f"messages[{index}]", said, "late_system")
                break


def _on_results(messages: Sequence[Message]) -> Iterator[Note]:
    if not any(_has_result(message) for message in messages):
        return
    for problem in pairing_problems(messages):
        if problem.severity == "error" and "answer" in problem.message:
            yield Note("kept", problem.place, problem.message, "orphan_tool_result")
            return


def _on_texts(messages: Sequence[Message]) -> Iterator[Note]:
    kinds: set[str] = set()
    for index, message in enumerate(messages):
        if _is_empty(message):
            yield Note("kept", f"messages[{index}]", "the turn says nothing", "empty_turn")
        for place, text in _texts(message.blocks, f"messages[{index}]"):
            if len(text) > VERY_LONG:
                said = f"the text is very long: {len(text)} characters"
                yield Note("kept", place, said, "very_long_turn")
            for kind in _secrets(text):
                if kind not in kinds:
                    kinds.add(kind)
                    said = f"what looks like {kind} is in the text"
                    yield Note("kept", place, said, "possible_secret")


def _has_result(message: Message) -> bool:
    return any(isinstance(block, ToolResultBlock) for block in message.blocks)


def _is_empty(message: Message) -> bool:
    if any(block.type != "text" or block.text.strip() for block in message.blocks):
        return False
    return "unread_parts" not in (message.detail or {})


def _texts(blocks: Sequence[Block], place: str) -> Iterator[tuple[str, str]]:
    for index, block in enumerate(blocks):
        if isinstance(block, TextBlock):
            yield f"{place}.blocks[{index}].text", block.text
        elif isinstance(block, ToolResultBlock):
            yield from _texts(block.blocks, f"{place}.blocks[{index}]")


def _secrets(text: str) -> Iterator[str]:
    """Name the kinds of secrets in a text. The cheap tests in front spare the costly ones."""
    if any(sign in text for sign in _KEY_SIGNS) and _KEY.search(text):
        yield "a key or a token"
    if "@" in text and _ADDRESS.search(text):
        yield "a mail address"
    if _TEN_DIGITS.search(text) and any(_is_card(each[0]) for each in _CARD.finditer(text)):
        yield "the number of a card"


def _is_card(written: str) -> bool:
    """Check the sum of a card number (ISO/IEC 7812)."""
    digits = [int(digit) for digit in written if digit.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) < 3:
        return False
    total = 0
    for position, digit in enumerate(reversed(digits)):
        doubled = digit * (1 + position % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0
