"""Estimating the tokens of a text without a vocabulary, script by script.

Characters divided by four, the usual rule, is right for English and wrong by half and more for
Chinese or emoji. Here a text is cut into pieces as byte pair encodings cut it (words, numbers,
punctuation, lines), and a piece costs what pieces of its script cost in o200k_base on the average.
The costs were fitted to the translations of Django's interface into 90 languages, source code,
JSON, documents and MT-Bench. Measured on these, the error of a whole text is below 10 % for
English, chats, code and JSON, below 20 % for most languages that models are asked in, and up to
half for the smallest. Newer vocabularies are alike; older ones need more tokens for other scripts.
"""

import re
from math import ceil
from typing import Final, NamedTuple


class _Script(NamedTuple):
    """The letters of a script, and what a run of them costs: so much, and so much a letter."""

    letters: str
    a_run: float
    a_letter: float


_LATIN: Final = (
    r"A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f\u1e00-\u1eff"
)

_SCRIPTS: Final = {
    "latin": _Script(_LATIN, 0.34, 0.31),
    "greek": _Script(r"\u0370-\u03ff\u1f00-\u1fff", 0.4, 0.32),
    "cyrillic": _Script(r"\u0400-\u052f", 0.8, 0.18),
    "armenian": _Script(r"\u0530-\u058f", 0, 0.36),
    "hebrew": _Script(r"\u0591-\u05f4", 0.06, 0.42),
    "arabic": _Script(
        r"\u0610-\u061a\u0620-\u065f\u066e-\u06d3\u06d5-\u06ef\u06fa-\u08ff", 0, 0.37
    ),
    "indic": _Script(r"\u0900-\u0963\u0970-\u0dff", 0, 0.38),
    "thai": _Script(r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0eff", 0, 0.39),
    "khmer": _Script(r"\u1000-\u109f\u1780-\u17d3", 0.16, 0.6),
    "georgian": _Script(r"\u10a0-\u10ff\u1c90-\u1cbf", 0, 0.35),
    "hangul": _Script(r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3", 0.2, 0.55),
    "kana": _Script(r"\u3041-\u309f\u30a1-\u30ff", 0.45, 0.4),
    "han": _Script(r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff", 0.6, 0.53),
    "rare_han": _Script(r"\U00020000-\U0003134f", 0, 3),
    "pictures": _Script(r"\u2190-\u2bff\ufe0f\u200d\U0001f000-\U0001faff", 0, 1.7),
    "other": _Script(r"", 0, 1),
}

_WORD: Final = rf"(?P<word>[A-Za-z]+(?![{_LATIN}]))"
_SCRIPT_RUNS: Final = "|".join(
    f"(?P<{name}>[{script.letters}]+)" for name, script in _SCRIPTS.items() if script.letters
)
_PIECE: Final = re.compile(
    rf"{_WORD}|(?P<signs>[!-/:-@\[-`{{-~]+)|(?P<number>[0-9]+)|(?P<lines>\n\s*)|(?P<space>[^\S\n]+)"
    rf"|{_SCRIPT_RUNS}|(?P<other>.)",
    re.DOTALL,
)


def estimate(text: str) -> int:
    """Estimate the tokens of a text; a text that is not empty has one at least."""
    pieces = _PIECE.finditer(text)
    cost = sum(_cost(found.lastgroup or "", found.group()) for found in pieces)
    return max(ceil(cost), min(len(text), 1))


def _cost(kind: str, piece: str) -> float:
    length = len(piece)
    match kind:
        case "word":
            # Common words are one token with the space before them; long ones are put together.
            return 0.75 + 0.17 * max(0, length - 4) + 0.25 * max(0, length - 8)
        case "signs":
            # A rule of one character is put together better than signs between words.
            return 0.82 + 0.17 * min(length - 1, 8) + max(0, length - 9) / 16
        case "number":
            return 0.75 + ceil(length / 3)
        case "lines":
            return 0.8 + length // 16
        case "space":
            return 0 if length == 1 else 1 + length / 80
        case _:
            script = _SCRIPTS[kind]
            return script.a_run + script.a_letter * length
