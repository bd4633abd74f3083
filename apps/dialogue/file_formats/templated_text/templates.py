"""The templates by which models have conversations as one text, and how each is split."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from apps.dialogue.file_formats.templated_text import deepseek, mistral, vicuna
from apps.dialogue.file_formats.templated_text.said import Said


@dataclass(frozen=True, slots=True)
class Template:
    """A template: what it is told by, and how its text is split; ``stray`` takes what is left."""

    name: str
    marker: re.Pattern[str]
    split: Callable[[str, list[str]], Iterator[Said]]


def _marked(turn: str, end: str, *, lead: str = "\n") -> Callable[[str, list[str]], Iterator[Said]]:
    """Return a splitter for templates that write ``turn`` with a role, the text, and ``end``."""
    start, stop = re.compile(turn), re.compile(end)

    def split(text: str, stray: list[str]) -> Iterator[Said]:
        begun = list(start.finditer(text))
        limits = [*(each.start() for each in begun), len(text)][1:]
        at = 0
        for found, limit in zip(begun, limits, strict=True):
            stray.append(text[at : found.start()])
            ended = stop.search(text, found.end(), limit)
            said = text[found.end() : ended.start() if ended else limit]
            yield Said(found[1], said.removeprefix(lead), ended is not None)
            at = ended.end() if ended else limit
        stray.append(text[at:])

    return split


_INST: Final = re.compile(r"\[INST\](.*?)(?:\[/INST\]|\Z)(.*?)(?=\[INST\]|\Z)", re.DOTALL)
_SYS: Final = re.compile(r"\A\s*<<SYS>>\n?(.*?)\n?<</SYS>>\s*", re.DOTALL)


def _instructions(text: str, stray: list[str]) -> Iterator[Said]:
    """Split ``<s>[INST] <<SYS>>...<</SYS>> question [/INST] answer </s>``."""
    first = text.find("[INST]")
    stray.append(text[:first])
    for found in _INST.finditer(text):
        asked = found[1]
        if system := _SYS.match(asked):
            yield Said("system", system[1])
            asked = asked[system.end() :]
        yield Said("user", asked.strip(" "))
        answer, ended, rest = found[2].partition("</s>")
        if ended:
            stray.append(rest)
        answer = answer.strip().removesuffix("<s>").rstrip()
        if answer:
            yield Said("assistant", answer)


def _headings(text: str, stray: list[str]) -> Iterator[Said]:
    """Split ``### Human: ... ### Assistant: ...``."""
    pieces = re.split(r"### (Human|Assistant|System): ?", text)
    stray.append(pieces[0])
    for role, said in zip(pieces[1::2], pieces[2::2], strict=True):
        yield Said(role, said.rstrip(), ended=bool(said.strip()))


TEMPLATES: Final = (
    Template(
        "ChatML",
        re.compile(r"<\|im_start\|>"),
        _marked(r"<\|im_start\|>([^\n<]*)", r"<\|im_end\|>"),
    ),
    Template(
        "Llama 3",
        re.compile(r"<\|start_header_id\|>"),
        _marked(
            r"<\|start_header_id\|>([^<]*)<\|end_header_id\|>", r"<\|eot_id\|>|<\|eom_id\|>",
            lead="\n\n",
        ),
    ),
    Template(
        "Llama 4",
        re.compile(r"<\|header_start\|>"),
        _marked(r"<\|header_start\|>([^<]*)<\|header_end\|>", r"<\|eot\|>|<\|eom\|>", lead="\n\n"),
    ),
    Template(
        "Gemma",
        re.compile(r"<start_of_turn>"),
        _marked(r"<start_of_turn>([^\n<]*)", r"<end_of_turn>"),
    ),
    Template("DeepSeek", deepseek.MARKER, deepseek.split),
    Template("Mistral", mistral.MARKER, mistral.split),
    Template("Llama 2", re.compile(r"\[INST\]"), _instructions),
    Template(
        "Zephyr or Phi",
        re.compile(r"<\|(?:system|user|assistant)\|>"),
        _marked(r"<\|(system|user|assistant|tool|observation)\|>", r"<\|end\|>|</s>|<\|eot\|>"),
    ),
    Template("Guanaco", re.compile(r"\A\s*### (?:Human|System): ?"), _headings),
    Template("Vicuna", vicuna.MARKER, vicuna.split),
)  # fmt: skip
