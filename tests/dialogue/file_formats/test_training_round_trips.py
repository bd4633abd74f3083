"""What is written as pairs or as ShareGPT reads back the same, or the writer says what does not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.blocks import ImageBlock, TextBlock, ToolCallBlock, ToolResultBlock
from apps.dialogue.candidates import Candidate
from apps.dialogue.file_formats import FORMATS, Loss, TaskContent
from apps.dialogue.message import Message, make_message, text_message
from tests.dialogue.conversations import (
    conversations,
    json_objects,
    plain_conversations,
    texts,
    visible_texts,
)

ASKED = text_message("user", "Q")
GOOD, BAD = text_message("assistant", "A"), text_message("assistant", "B")
PAIR = (Candidate((GOOD,), "chosen"), Candidate((BAD,), "rejected"))
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {}}}

answers = st.builds(
    lambda text, calls: make_message(
        "assistant",
        [TextBlock(text=text)]
        + [ToolCallBlock(id=f"c{i}", name="f", input=each) for i, each in enumerate(calls)],
    ),
    visible_texts,
    st.lists(json_objects, max_size=2),
)
details = st.dictionaries(st.sampled_from(["score", "critique", "a b"]), st.integers(), max_size=2)
candidates = st.lists(
    st.builds(
        Candidate,
        st.one_of(conversations().filter(bool), st.tuples(answers)),
        st.sampled_from(["chosen", "rejected", ""]),
        st.sampled_from(["", "m-1"]),
        details,
    ),
    max_size=3,
).map(tuple)


def task_of(*messages: Message, **parts: Any) -> TaskContent:
    given = {"attributes": {}, "tools": None, "tags": (), **parts}
    return TaskContent("k", messages, **given)


def write(name: str, task: TaskContent) -> tuple[list[dict[str, Any]], list[Loss]]:
    writer = FORMATS[name].write
    assert writer is not None
    losses: list[Loss] = []
    return writer(task, losses), losses


def read(name: str, row: dict[str, Any]) -> TaskContent:
    assert FORMATS[name].recognises(row)
    return FORMATS[name].read(row, [])


def answers_alone(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Leave out the texts beside calls: ShareGPT has turns of the one or of the other."""
    made = []
    for message in messages:
        calls = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
        made.append(make_message(message.role, calls or message.blocks, message.detail))
    return tuple(made)


@given(conversations().filter(bool))
def test_sharegpt_says_everything_it_cannot_carry(messages: tuple[Message, ...]) -> None:
    task = task_of(*messages)
    (row,), losses = write("sharegpt", task)
    assert losses or read("sharegpt", row).messages == messages
    assert task == task_of(*messages)


@given(plain_conversations(reasoning=False))
def test_sharegpt_carries_texts_calls_and_results_whole(messages: tuple[Message, ...]) -> None:
    messages = answers_alone(messages)
    (row,), losses = write("sharegpt", task_of(*messages, tools=[TOOL]))
    assert losses == []
    assert read("sharegpt", row).messages == messages
    assert isinstance(row["tools"], str)


def test_sharegpt_leaves_out_ids_that_a_reader_would_make_again() -> None:
    call = ToolCallBlock(id="call_0", name="f", input={"n": 1})
    result = ToolResultBlock(tool_call_id="call_0", blocks=(TextBlock(text="1"),))
    made = (ASKED, make_message("assistant", [call]), make_message("user", [result]))
    (row,), losses = write("sharegpt", task_of(text_message("system", "S"), *made, GOOD))
    assert losses == []
    assert row == {
        "id": "k",
        "system": "S",
        "conversations": [
            {"from": "human", "value": "Q"},
            {"from": "function_call", "value": '{"name": "f", "arguments": {"n": 1}}'},
            {"from": "observation", "value": "1"},
            {"from": "gpt", "value": "A"},
        ],
    }


@pytest.mark.parametrize(
    ("message", "place"),
    [
        (
            make_message("user", [ImageBlock(data="UE5H", mimeType="image/png")]),
            "messages[0].blocks[0]",
        ),
        (
            make_message(
                "assistant",
                [TextBlock(text="x"), ToolCallBlock(id="c", name="f", input={})],
            ),
            "messages[0]",
        ),
        (Message(role="user", blocks=()), "messages[0]"),
        (
            make_message("user", [TextBlock(text="x", detail={"a": 1})]),
            "messages[0].blocks[0].detail",
        ),
    ],
)
def test_sharegpt_names_the_place_of_what_it_cannot_carry(message: Message, place: str) -> None:
    _, losses = write("sharegpt", task_of(message, GOOD))
    assert place in {loss.place for loss in losses}


@pytest.mark.parametrize("name", ["preference_messages", "openai_dpo"])
@given(st.data())
def test_pairs_read_back_the_same_or_the_writer_says_what_does_not(
    name: str, data: st.DataObject
) -> None:
    messages = data.draw(conversations())
    given_ = data.draw(candidates)
    rows, losses = write(name, task_of(*messages, candidates=given_))
    assert rows or losses
    if losses:
        return
    pairs = set()
    for row in rows:
        again = read(name, row)
        assert again.messages == messages
        assert all(each in given_ for each in again.candidates)
        pairs.add(tuple(given_.index(each) for each in again.candidates))
    chosen = [i for i, each in enumerate(given_) if each.verdict == "chosen"]
    rejected = [i for i, each in enumerate(given_) if each.verdict == "rejected"]
    assert pairs <= {(good, bad) for good in chosen for bad in rejected}
    assert len(rows) == len(chosen) * len(rejected)


@pytest.mark.parametrize("name", ["preference_messages", "openai_dpo"])
@given(plain_conversations(reasoning=False), answers, answers)
def test_plain_pairs_are_carried_whole(
    name: str, messages: tuple[Message, ...], good: Message, bad: Message
) -> None:
    both = (Candidate((good,), "chosen"), Candidate((bad,), "rejected"))
    tools = [TOOL]
    task = task_of(*messages, candidates=both, tools=tools, attributes={"n": 1}, tags=("t",))
    (row,), losses = write(name, task)
    assert losses == []
    assert read(name, row) == task


def test_every_chosen_answer_is_paired_with_every_rejected_one() -> None:
    given_ = (*PAIR, Candidate((text_message("assistant", "C"),), "rejected"))
    rows, losses = write("preference_messages", task_of(ASKED, candidates=given_))
    assert losses == []
    assert [row["id"] for row in rows] == ["k-1", "k-2"]
    assert [row["rejected"][0]["content"] for row in rows] == ["B", "C"]


@pytest.mark.parametrize("name", ["preference_messages", "openai_dpo"])
@pytest.mark.parametrize("given_", [(), PAIR[:1], (Candidate((GOOD,), ""),)])
def test_a_task_without_a_pair_is_a_loss(name: str, given_: tuple[Candidate, ...]) -> None:
    rows, losses = write(name, task_of(ASKED, candidates=given_))
    assert rows == []
    assert losses[0].place.startswith("candidates")


def test_openai_takes_one_message_of_the_assistant_on_each_side() -> None:
    longer = Candidate((GOOD, ASKED, GOOD), "chosen")
    rows, losses = write("openai_dpo", task_of(ASKED, candidates=(longer, PAIR[1])))
    assert rows == []
    assert [loss.place for loss in losses] == ["candidates[0].messages"]
    (row,), losses = write("preference_messages", task_of(ASKED, candidates=(longer, PAIR[1])))
    assert losses == []
    assert [turn["role"] for turn in row["chosen"]] == ["assistant", "user", "assistant"]


def test_an_openai_pair_has_the_keys_openai_names() -> None:
    attributes = {"parallel_tool_calls": True}
    task = task_of(ASKED, candidates=PAIR, tools=[TOOL], attributes=attributes)
    (row,), losses = write("openai_dpo", task)
    assert losses == []
    assert row == {
        "id": "k",
        "input": {
            "messages": [{"role": "user", "content": "Q"}],
            "tools": [TOOL],
            "parallel_tool_calls": True,
        },
        "preferred_output": [{"role": "assistant", "content": "A"}],
        "non_preferred_output": [{"role": "assistant", "content": "B"}],
    }


@given(
    st.dictionaries(texts.filter(lambda name: name != "conversation"), st.integers(), max_size=4)
)
def test_attributes_come_back_or_are_named(attributes: dict[str, Any]) -> None:
    task = task_of(ASKED, candidates=PAIR, attributes={**attributes, "chosen_by": "x"})
    (row,), losses = write("preference_messages", task)
    again = read("preference_messages", row).attributes
    lost = {loss.place for loss in losses}
    assert "attributes.chosen_by" in lost
    for name, value in attributes.items():
        assert again.get(name) == value or f"attributes.{name}" in lost
