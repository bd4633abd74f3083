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
_EIGHT_DIGITS = re.compile(r"\d{4}[ -]?\d{4}")


def remarks_on(task: TaskContent, given: Collection[str]) -> list[Note]:
    """Say what is noteworthy in a conversation, but for the codes that were ``given`` already."""
    messages = task.messages
    answers = [_has_result(message) for message in messages]
    notes = [*_on_order(messages, answers), *_on_texts(messages)]
    if any(answers):
        notes += [*_on_results(messages), *_on_images(messages)]
    return [note for note in notes if note.code not in given]


def _on_order(messages: Sequence[Message], answers: Sequence[bool]) -> Iterator[Note]:
    spoken = [index for index, message in enumerate(messages) if message.role != "system"]
    if not spoken:
        return
    first = spoken[0]
    # Only where both speak do they take turns: a script of user turns, between which a model is
    # asked, and a list of answers are right as they are.
    if len({messages[index].role for index in spoken}) == 2:
        if messages[first].role == "assistant":
            said = "the conversation begins with the assistant"
            yield Note("kept", f"messages[{first}]", said, "starts_with_assistant")
        for before, index in pairwise(spoken):
            role = messages[index].role
            if messages[before].role == role and not (answers[before] or answers[index]):
                said = f"the {role} speaks twice running"
                yield Note("kept", f"messages[{index}]", said, "same_role_twice")
                break
    if len(messages) - first > len(spoken):
        late = next(n for n in range(first, len(messages)) if messages[n].role == "system")
        said = "a system message after the conversation began"
        yield Note("kept", f"messages[{late}]", said, "late_system")


def _on_results(messages: Sequence[Message]) -> Iterator[Note]:
    for problem in pairing_problems(messages):
        if problem.severity == "error" and "answer" in problem.message:
            yield Note("kept", problem.place, problem.message, "orphan_tool_result")
            return


def _on_images(messages: Sequence[Message]) -> Iterator[Note]:
    for number, message in enumerate(messages):
        for index, block in enumerate(message.blocks):
            if isinstance(block, ToolResultBlock) and any(
                each.type == "image" for each in block.blocks
            ):
                place = f"messages[{number}].blocks[{index}]"
                said = "an image in a tool's result, which Chat Completions cannot carry"
                yield Note("kept", place, said, "image_in_tool_result")


def _on_texts(messages: Sequence[Message]) -> Iterator[Note]:
    texts: list[tuple[str, str]] = []
    for index, message in enumerate(messages):
        place = f"messages[{index}]"
        if _is_empty(message):
            yield Note("kept", place, "the turn says nothing", "empty_turn")
        texts += _texts(message.blocks, place)
    for place, text in texts:
        if len(text) > VERY_LONG:
            said = f"the text is very long: {len(text)} characters"
            yield Note("kept", place, said, "very_long_turn")
    # All texts are looked at together first: mostly there is nothing, and once is quicker.
    for kind in _secrets("\n".join([text for _, text in texts])):
        place = next((place for place, text in texts if kind in _secrets(text)), "")
        if place:
            yield Note("kept", place, f"what looks like {kind} is in the text", "possible_secret")


def _has_result(message: Message) -> bool:
    return message.role == "user" and any(block.type == "tool_result" for block in message.blocks)


def _is_empty(message: Message) -> bool:
    for block in message.blocks:
        if block.type != "text" or block.text.strip():
            return False
    return "unread_parts" not in (message.detail or {})


def _texts(blocks: Sequence[Block], place: str) -> Iterator[tuple[str, str]]:
    for index, block in enumerate(blocks):
        if isinstance(block, TextBlock):
            yield f"{place}.blocks[{index}].text", block.text
        elif isinstance(block, ToolResultBlock):
            yield from _texts(block.blocks, f"{place}.blocks[{index}]")


def _secrets(text: str) -> list[str]:
    """Name the kinds of secrets in a text. The cheap tests in front spare the costly ones."""
    found: list[str] = []
    if any([sign in text for sign in _KEY_SIGNS]) and _KEY.search(text):  # noqa: C419 - quicker
        found.append("a key or a token")
    if "@" in text and _ADDRESS.search(text):
        found.append("a mail address")
    if _EIGHT_DIGITS.search(text) and any(_is_card(each[0]) for each in _CARD.finditer(text)):
        found.append("the number of a card")
    return found


def _is_card(written: str) -> bool:
    """Check the sum of a card number (ISO/IEC 7812)."""
    digits = [int(digit) for digit in written if digit.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) < 2:
        return False
    total = 0
    for position, digit in enumerate(reversed(digits)):
        doubled = digit * (1 + position % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0
