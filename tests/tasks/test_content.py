"""What is kept of a content, and what is served from it."""

import json
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from openreward.environments import Message as ReferenceMessage

from apps.dialogue.blocks import TextBlock
from apps.dialogue.candidates import Candidate
from apps.dialogue.errors import DialogueError, InvalidAttributes, InvalidMessage
from apps.dialogue.flattening import flatten
from apps.dialogue.message import Message, conversation_to_wire
from apps.tasks.content import (
    TaskContent,
    canonical_json,
    load_content,
    parse_content,
    ready_problems,
    store,
    summary_of,
)
from tests.dialogue.conversations import conversations, json_objects, texts
from tests.factories import call, conversation, make_content, message, result, text

attributes = json_objects.map(
    lambda made: {k: v for k, v in made.items() if k not in {"id", "conversation"}}
)
contents = st.builds(
    TaskContent,
    messages=conversations(),
    attributes=attributes,
    tools=st.none() | st.lists(json_objects, max_size=2),
    tags=st.lists(st.sampled_from(["hard", "ünïcode", "a b"]), unique=True).map(tuple),
    notes=st.sampled_from(["", "ask Zoë\nagain"]),
    candidates=st.lists(
        st.builds(
            Candidate,
            messages=conversations().filter(bool),
            verdict=st.sampled_from(["chosen", "rejected", ""]),
            model=st.sampled_from(["", "m-1"]),
            detail=json_objects,
        ),
        max_size=2,
    ).map(tuple),
)
spoken = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(["system", "user", "assistant"]),
        blocks=st.lists(
            st.builds(TextBlock, text=texts, detail=st.none() | json_objects), max_size=2
        ).map(tuple),
        detail=st.none() | json_objects,
    ),
    max_size=4,
).map(tuple)


def _reference_answer(messages: list[dict[str, Any]]) -> str:
    """What a server made of the reference's own types answers at /messages."""
    app = FastAPI()

    @app.get("/messages")
    async def get_messages() -> list[ReferenceMessage]:
        return [ReferenceMessage.model_validate(each) for each in messages]

    return TestClient(app).get("/messages").content.decode()


def test_the_messages_body_is_byte_for_byte_the_references() -> None:
    written = [
        *conversation(),
        message(
            "assistant", text("Zoë, 李 \u2028 \x7f \x1f \b <b>&</b> \U0001f469\u200d\U0001f52c")
        ),
        message("user", {"type": "image", "data": "UE5H", "mimeType": "image/png"}),
        {"role": "user", "blocks": [], "detail": {"f": 1e-7, "g": 1e16, "n": 10**30, "z": None}},
        message("assistant", call("c", "stock", zebra=1.0, apple=[None, {"b": 1, "a": True}])),
    ]
    assert store(parse_content({"messages": written}), key="k").messages_body == (
        _reference_answer(written)
    )


@given(contents)
def test_what_is_kept_is_read_back_as_it_was(content: TaskContent) -> None:
    stored = store(content, key="k")
    again = load_content(stored.content)
    assert again == content
    assert store(again, key="k") == stored
    assert parse_content(content.to_wire()) == content


@given(contents)
def test_the_spec_is_the_id_the_conversation_and_the_attributes_in_their_order(
    content: TaskContent,
) -> None:
    stored = store(content, key='a "key"')
    spec = json.loads(stored.spec_body)
    assert list(spec) == ["id", "conversation", *content.attributes]
    assert spec["id"] == 'a "key"'
    assert spec["conversation"] == json.loads(stored.messages_body)


def test_the_order_of_keys_is_content() -> None:
    one = store(parse_content(make_content(a=1, b=2)), key="k")
    other = store(parse_content(make_content(b=2, a=1)), key="k")
    assert one.content_hash != other.content_hash


def test_what_is_hidden_belongs_to_the_hash_and_to_nothing_that_is_served() -> None:
    content = parse_content(make_content())
    plain, graded = store(content, key="k"), store(content, key="k", hidden=("secret", ""))
    assert plain.content_hash != graded.content_hash
    assert "secret" not in graded.spec_body + graded.messages_body + graded.prompt_body


@pytest.mark.parametrize("name", ["id", "conversation"])
def test_an_attribute_may_not_hide_a_part_of_the_spec(name: str) -> None:
    with pytest.raises(InvalidAttributes) as refusal:
        parse_content({"attributes": {name: "x"}})
    assert refusal.value.place == f"attributes.{name}"


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"messages": {}}, "messages"),
        ({"messages": [{"role": "tool", "blocks": []}]}, "messages[0].role"),
        ({"attributes": []}, "attributes"),
        ({"attributes": {"a": [1, float("nan")]}}, "attributes.a[1]"),
        ({"attributes": {"a": "\x00"}}, "attributes.a"),
        ({"tools": {}}, "tools"),
        ({"tools": [{"a": "\ud800"}]}, "tools.a"),
        ({"tags": "hard"}, "tags"),
        ({"tags": [""]}, "tags[0]"),
        ({"tags": [7]}, "tags[0]"),
        ({"tags": ["x" * 65]}, "tags[0]"),
        ({"tags": [str(n) for n in range(51)]}, "tags"),
        ({"notes": None}, "notes"),
        ({"notes": "\x00"}, "notes"),
        ({"message": []}, "message"),
        ([], "content"),
    ],
)
def test_what_cannot_be_content_is_refused_at_its_place(value: Any, place: str) -> None:
    with pytest.raises(DialogueError) as refusal:
        parse_content(value)
    assert refusal.value.place == place


def test_a_block_where_it_may_not_stand_is_refused() -> None:
    with pytest.raises(InvalidMessage) as refusal:
        parse_content({"messages": [message("user", call("c", "f"))]})
    assert refusal.value.place == "messages[0].blocks[0]"


@pytest.mark.parametrize(
    ("messages", "places"),
    [
        ([], ["messages"]),
        ([message("user", "Hi"), message("assistant")], ["messages[1].blocks"]),
        ([message("user", result("c", "x"))], ["messages[0].blocks[0]"]),
        (
            [message("assistant", call("c", "f")), message("assistant", "Well")],
            ["messages[0].blocks[0]"],
        ),
        ([message("user", "Hi"), message("assistant", call("c", "f"))], []),
        (conversation(), []),
    ],
)
def test_readiness_names_every_place_that_is_not_done(
    messages: list[dict[str, Any]], places: list[str]
) -> None:
    problems = ready_problems(parse_content({"messages": messages}))
    assert [problem.place for problem in problems] == places


def test_a_summary_is_what_the_user_says_first_on_one_line() -> None:
    content = parse_content(
        make_content(message("system", "Be kind."), message("user", "  Where \n is it? "))
    )
    assert summary_of(content.messages) == "Where is it?"
    long = parse_content(make_content(message("system", "x" * 300))).messages
    assert len(summary_of(long)) == 200
    assert summary_of(()) == ""


@given(spoken)
def test_the_bodies_of_plain_texts_are_what_the_general_way_writes(
    messages: tuple[Message, ...],
) -> None:
    stored = store(TaskContent(messages=messages), key="k")
    assert stored.messages_body == canonical_json(conversation_to_wire(messages))
    assert stored.prompt_body == canonical_json(flatten(messages))


def test_candidates_stand_in_what_is_stored_only_if_there_are_some() -> None:
    content = parse_content({"messages": conversation()})
    assert "candidates" not in store(content, key="k").content
    answer = {"messages": [message("assistant", text("Yes"))], "verdict": "chosen"}
    with_one = parse_content({"messages": conversation(), "candidates": [answer]})
    stored = store(with_one, key="k")
    assert load_content(stored.content) == with_one
    plain = store(content, key="k")
    assert stored.content_hash != plain.content_hash
    for served in ("messages_body", "prompt_body", "spec_body"):
        assert getattr(stored, served) == getattr(plain, served)


@pytest.mark.parametrize(
    ("candidates", "place"),
    [
        ("none", "candidates"),
        ([{"messages": []}], "candidates[0].messages"),
        ([{"messages": conversation(), "verdict": "best"}], "candidates[0].verdict"),
        ([{"messages": [{"role": "x", "blocks": []}]}], "candidates[0].messages[0].role"),
        ([{"messages": conversation(), "rank": 1}], "candidates[0].rank"),
    ],
)
def test_a_wrong_candidate_is_refused_by_its_place(candidates: Any, place: str) -> None:
    with pytest.raises(InvalidMessage) as refusal:
        parse_content({"messages": conversation(), "candidates": candidates})
    assert refusal.value.place == place
