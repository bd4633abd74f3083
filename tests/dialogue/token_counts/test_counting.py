import socket

import pytest
from hypothesis import given

from apps.dialogue.errors import SpecError
from apps.dialogue.message import Message, parse_conversation
from apps.dialogue.token_counts import (
    ESTIMATE,
    available_tokenizers,
    count_text,
    count_tokens,
    tokenizer_for_model,
)
from tests.dialogue.conversations import conversations, texts

MESSAGES = parse_conversation(
    [
        {"role": "system", "blocks": [{"type": "text", "text": "Answer briefly."}]},
        {
            "role": "user",
            "blocks": [
                {"type": "text", "text": "What is on it?", "detail": {"never": "read " * 50}},
                {"type": "image", "data": "UE5H", "mimeType": "image/png"},
            ],
        },
        {
            "role": "assistant",
            "blocks": [
                {"type": "reasoning", "text": "I look it up.", "signature": "s" * 500},
                {"type": "tool_call", "id": "call_1", "name": "look", "input": {"what": "Köln"}},
            ],
        },
        {
            "role": "user",
            "blocks": [
                {
                    "type": "tool_result",
                    "tool_call_id": "call_1",
                    "blocks": [
                        {"type": "text", "text": "A cathedral."},
                        {"type": "image", "data": "UE5H", "mimeType": "image/png"},
                    ],
                }
            ],
        },
    ]
)

needs_o200k = pytest.mark.skipif(
    "o200k_base" not in available_tokenizers(), reason="no wheel of toktok-rs for this platform"
)


@needs_o200k
@pytest.mark.parametrize(
    ("text", "o200k", "cl100k"),
    # Counted with gpt-tokenizer 4.0.0 (npm).
    [
        ("hello world", 2, 2),
        ("how many tokens is this?", 6, 6),
        ("Grüße aus Köln, 12.345 km weit", 12, 13),
        ("你好，世界！", 4, 7),  # noqa: RUF001
        ("<|endoftext|>", 7, 7),
        ("👩‍💻 🇩🇪", 9, 13),
    ],
)
def test_a_text_is_counted_as_its_tokenizer_cuts_it(text: str, o200k: int, cl100k: int) -> None:
    assert count_text(text, "o200k_base") == o200k
    assert count_text(text, "cl100k_base") == cl100k


@needs_o200k
def test_the_tokens_of_a_conversation_are_those_of_its_blocks() -> None:
    counts = count_tokens(MESSAGES)
    assert counts.tokenizer == "o200k_base"
    assert counts.exact
    said = [[block.tokens for block in turn.blocks] for turn in counts.turns]
    call = count_text("look") + count_text('{"what": "Köln"}')
    assert said == [
        [count_text("Answer briefly.")],
        [count_text("What is on it?"), 0],
        [count_text("I look it up."), call],
        [count_text("A cathedral.")],
    ]
    assert counts.tokens == sum(sum(turn) for turn in said)


def test_images_are_reported_and_not_counted() -> None:
    counts = count_tokens(MESSAGES, ESTIMATE)
    assert counts.images == 2
    assert [turn.images for turn in counts.turns] == [0, 1, 0, 1]
    assert counts.turns[1].blocks[1].tokens == 0


def test_an_estimate_is_never_called_exact() -> None:
    counts = count_tokens(MESSAGES, ESTIMATE)
    assert counts.tokenizer == "estimate"
    assert not counts.exact
    assert counts.tokens > 0


def test_an_unknown_tokenizer_is_refused_by_name() -> None:
    with pytest.raises(SpecError, match=r"'p50k' cannot count here; there are .*estimate"):
        count_tokens(MESSAGES, "p50k")


@given(conversations())
def test_every_conversation_has_a_count_for_each_block(
    messages: tuple[Message, ...],
) -> None:
    for tokenizer in available_tokenizers():
        counts = count_tokens(messages, tokenizer)
        assert [len(turn.blocks) for turn in counts.turns] == [len(m.blocks) for m in messages]
        assert counts.tokens == sum(b.tokens for turn in counts.turns for b in turn.blocks)


@given(texts)
def test_only_an_empty_text_has_no_tokens(text: str) -> None:
    assert all((count_text(text, name) == 0) == (text == "") for name in available_tokenizers())


@needs_o200k
@pytest.mark.parametrize(
    ("model", "tokenizer"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("openai/gpt-4.1", "o200k_base"),
        ("gpt-5.2", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("o1", "o200k_base"),
        ("ft:gpt-4o-mini-2024-07-18:org::id", "o200k_base"),
        ("openai/gpt-oss-120b", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("claude-sonnet-4-5", ESTIMATE),
        ("gemini-2.5-pro", ESTIMATE),
        ("olmo-3", ESTIMATE),
        ("", ESTIMATE),
    ],
)
def test_the_name_of_a_model_says_which_tokenizer_counts(model: str, tokenizer: str) -> None:
    assert tokenizer_for_model(model) == tokenizer


def test_counting_asks_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "socket", refuse)
    for name in available_tokenizers():
        assert count_tokens(MESSAGES, name).tokens > 0
