"""The tokenizers that count: those of the package toktok-rs, and the estimate.

toktok-rs holds its vocabularies in the wheel and never asks the network. Where no wheel of it can
be installed the product works all the same, with estimates.
"""

import re
from collections.abc import Sequence
from typing import Final

from apps.dialogue.errors import SpecError
from apps.dialogue.token_counts.estimating import estimate

try:
    from toktok import batch_count
except ImportError:  # no wheel for this platform
    batch_count = None

ESTIMATE: Final = "estimate"
TOKENIZERS: Final = ("o200k_base", "cl100k_base", ESTIMATE)
"""What a count may be named after; the first one that is available is the default."""

# The vocabulary of a model by its name, which an organisation or "ft:" may stand before.
_O200K: Final = re.compile(
    r"(?:.*[/:])?(?:gpt-(?:4o|4\.[1-9]|[5-9]|oss)|chatgpt-4o|o[1-9](?:-|:|$))"
)
_CL100K: Final = re.compile(r"(?:.*[/:])?gpt-(?:4|3\.5|35)(?:-|:|$)")


def available_tokenizers() -> tuple[str, ...]:
    """Return the names in ``TOKENIZERS`` that can count on this machine, the best first."""
    return TOKENIZERS if batch_count is not None else (ESTIMATE,)


def tokenizer_for_model(model: str) -> str:
    """Return the tokenizer of a model by its name: ``estimate`` where its tokenizer is not ours.

    Only OpenAI publishes the vocabularies of its chat models (openai/tiktoken, model.py).
    """
    name = model.strip().lower()
    for tokenizer, pattern in (("o200k_base", _O200K), ("cl100k_base", _CL100K)):
        if pattern.match(name) and tokenizer in available_tokenizers():
            return tokenizer
    return ESTIMATE


def counts_of(texts: Sequence[str], tokenizer: str) -> list[int]:
    """Count the tokens of each text; raises ``SpecError`` for a tokenizer that is not there."""
    if tokenizer == ESTIMATE:
        return [estimate(text) for text in texts]
    if tokenizer not in available_tokenizers():
        known = ", ".join(available_tokenizers())
        raise SpecError(f"{tokenizer!r} cannot count here; there are {known}", place="tokenizer")
    # One thread: a pool costs more than it saves for the texts of a conversation.
    counted: list[int] = batch_count(texts, tokenizer, threads=1)
    return counted
