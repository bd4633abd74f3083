"""How many tokens a conversation has, counted offline: exactly for a tokenizer, or estimated.

``count_tokens(messages)`` counts block by block. What is counted is what a model reads of a block:
the text of texts and reasoning, name and arguments of a call, the texts of a result. Not counted
are images (their price depends on the provider and the model; they are reported), what an API puts
around turns and tools, signatures, and ``detail``, which no model receives.
"""

from apps.dialogue.token_counts.counting import (
    BlockTokens,
    TokenCounts,
    TurnTokens,
    count_text,
    count_tokens,
)
from apps.dialogue.token_counts.tokenizers import (
    ESTIMATE,
    TOKENIZERS,
    available_tokenizers,
    tokenizer_for_model,
)

__all__ = [
    "ESTIMATE",
    "TOKENIZERS",
    "BlockTokens",
    "TokenCounts",
    "TurnTokens",
    "available_tokenizers",
    "count_text",
    "count_tokens",
    "tokenizer_for_model",
]
