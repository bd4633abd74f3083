"""What is written reads as the same task, or the difference was told before: every format."""

import copy
import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from latticeflow.core.dtypes import Trace

from apps.dialogue.candidates import Candidate
from apps.dialogue.file_containers.writing import WRITERS
from apps.dialogue.file_formats import FORMATS, Loss, TaskContent, read_tasks
from apps.dialogue.message import Message, conversation_to_wire, text_message
from apps.dialogue.trace import trace_items_to_messages
from tests.dialogue.conversations import conversations, json_objects, plain_conversations

WRITABLE = [each for each in FORMATS.values() if each.write is not None]
FEWER = settings(max_examples=40, deadline=None)
SLOW = settings(deadline=None)

PAIRS = {"openai_dpo", "preference_messages"}
"""Formats whose rows are a chosen and a rejected answer."""

KEYLESS = {"openai_finetune"}
"""Formats whose rows must not have a key."""

names = st.sampled_from(
    ["n", "answer", "question", "prompt", "input", "output", "instruction", "system", "messages",
     "tools", "tags", "candidates", "conversations", "items", "metadata", "key", "question_id",
     "chosen", "rejected", "label", "turns", "conversation_trace", "functions", "images", "target",
     "choices", "turnwright", "", "ü"]
)  # fmt: skip
attributes = st.dictionaries(
    names, st.text(max_size=5) | st.integers() | st.none() | json_objects, max_size=3
).map(lambda each: json.loads(json.dumps(each).replace("\\u0000", "")))
tools = st.none() | st.just(
    [
        {
            "type": "function",
            "function": {
                "name": "find_order",
                "description": "Finds it.",
                "parameters": {"type": "object", "properties": {"order": {"type": "string"}}},
            },
        }
    ]
)
answers = st.text(min_size=1, max_size=5).filter(lambda text: text.strip() and "\x00" not in text)
candidates = st.lists(
    st.builds(
        Candidate,
        messages=answers.map(lambda text: (text_message("assistant", text),)),
        verdict=st.sampled_from(["chosen", "rejected", ""]),
    ),
    max_size=3,
).map(tuple)


def tasks(messages: st.SearchStrategy[tuple[Message, ...]]) -> st.SearchStrategy[TaskContent]:
    return st.builds(
        TaskContent,
        key=st.sampled_from(["a", "7", "=1", "key with spaces"]),
        messages=messages,
        attributes=attributes,
        tools=tools,
        tags=st.sampled_from([(), ("one",), ("one", "two")]),
        candidates=candidates,
    )


any_tasks = tasks(conversations()) | tasks(plain_conversations())


def written(name: str, task: TaskContent) -> tuple[list[dict[str, Any]], list[Loss]]:
    write = FORMATS[name].write
    assert write is not None
    losses: list[Loss] = []
    return write(task, losses), losses


def as_lines(rows: list[dict[str, Any]], container: str = "jsonl") -> bytes:
    sink = io.BytesIO()
    writer = WRITERS[container].writer(sink)
    for row in rows:
        writer.write(row)
    writer.close()
    return sink.getvalue()


def exactly(messages: tuple[Message, ...]) -> str:
    return json.dumps(conversation_to_wire(messages))


@pytest.mark.parametrize("name", [each.name for each in WRITABLE])
@SLOW
@given(task=any_tasks)
def test_a_row_reads_as_the_same_task_or_the_difference_was_told(
    name: str, task: TaskContent
) -> None:
    rows, losses = written(name, task)
    assert rows or losses
    if losses:
        return
    read = list(read_tasks(io.BytesIO(as_lines(rows)), format=name))
    assert len(read) == len(rows)
    for row in read:
        assert row.task is not None, row.notes
        assert exactly(row.task.messages) == exactly(task.messages)
        assert row.task.tags == task.tags
        kept = {key: row.task.attributes.get(key, "gone") for key in task.attributes}
        assert json.dumps(kept) == json.dumps(task.attributes)
    if name not in PAIRS:
        (only,) = read
        assert only.task is not None
        assert only.task.key == (None if name in KEYLESS else task.key)
        assert only.task.candidates == task.candidates
        assert bool(only.task.tools) == bool(task.tools)


@pytest.mark.parametrize("name", [each.name for each in WRITABLE])
@FEWER
@given(task=any_tasks)
def test_writing_changes_nothing_and_is_repeatable(name: str, task: TaskContent) -> None:
    before = copy.deepcopy(task)
    assert written(name, task) == written(name, task)
    assert task == before


@pytest.mark.parametrize("name", [each.name for each in WRITABLE])
@FEWER
@given(task=any_tasks)
def test_losses_name_places_of_the_task(name: str, task: TaskContent) -> None:
    _, losses = written(name, task)
    for loss in losses:
        assert loss.message
        if loss.message.startswith("could not be read back"):
            continue  # the place is the file's
        first = loss.place.partition("[")[0].partition(".")[0]
        assert first in {"messages", "attributes", "tools", "tags", "candidates", "id", ""}


@pytest.mark.parametrize("name", [each.name for each in WRITABLE if each.name not in PAIRS])
@FEWER
@given(task=any_tasks)
def test_what_was_left_out_leaves_rows_that_can_be_read(name: str, task: TaskContent) -> None:
    rows, losses = written(name, task)
    if not losses or any(loss.message.startswith("could not be read back") for loss in losses):
        return
    for row in read_tasks(io.BytesIO(as_lines(rows)), format=name):
        assert row.task is not None or not any(_text_of(each) for each in task.messages), row.notes


def _text_of(message: Message) -> bool:
    return any(block.type == "text" and block.text.strip() for block in message.blocks)


@pytest.mark.parametrize("name", [each.name for each in WRITABLE])
@SLOW
@given(messages=plain_conversations(reasoning=False), chosen=answers, rejected=answers)
def test_plain_conversations_are_carried_by_every_format(
    name: str, messages: tuple[Message, ...], chosen: str, rejected: str
) -> None:
    pair = (
        Candidate((text_message("assistant", chosen),), "chosen"),
        Candidate((text_message("assistant", "~" + rejected),), "rejected"),
    )
    if name in PAIRS:
        messages = (*messages, text_message("user", "And then?"))
    if name == "sharegpt":
        messages = tuple(message for message in messages if not _says_and_calls(message))
    own: dict[str, Any] = {"score": 1, "source": {"page": [1, None]}}
    tags: tuple[str, ...] = ("one",)
    if name in KEYLESS:
        own, tags = {}, ()
    task = TaskContent("a", messages, own, None, tags, pair if name in PAIRS else ())
    rows, losses = written(name, task)
    assert losses == []
    (read,) = read_tasks(io.BytesIO(as_lines(rows)))
    # A chat without system text, tools or parts is the same row for two providers.
    assert read.format == name or (name, read.format) in {
        ("anthropic", "openai_chat"),
        ("openai_finetune", "openai_chat"),
    }
    assert read.task is not None, read.notes
    assert exactly(read.task.messages) == exactly(messages)


def _says_and_calls(message: Message) -> bool:
    """A text beside a call: ShareGPT has a turn for one or the other."""
    return {"text", "tool_call"} <= {block.type for block in message.blocks}


@SLOW
@given(messages=plain_conversations(reasoning=False))
def test_latticeflow_reads_the_conversations_of_dataset_rows(
    messages: tuple[Message, ...],
) -> None:
    (row,), losses = written("attribute_rows", TaskContent("a", messages, {}, None, ()))
    assert losses == []
    trace = Trace.model_validate(row["conversation_trace"])
    assert len(trace.items) >= len(messages)
    assert trace_items_to_messages(row["conversation_trace"]) == messages


def test_a_dataset_row_has_its_question_once() -> None:
    def row(*messages: Message, **own: Any) -> dict[str, Any]:
        (only,), losses = written("attribute_rows", TaskContent("a", messages, own, None, ()))
        assert losses == []
        return only

    asked = text_message("user", "2+2?")
    assert row(asked, answer="4") == {"id": "a", "question": "2+2?", "answer": "4"}
    assert row(asked, question="2+2?") == {"id": "a", "question": "2+2?"}
    assert row(asked, prompt="2+2?") == {"id": "a", "prompt": "2+2?"}
    other = row(asked, question="Another one?")
    assert other["question"] == "Another one?"
    assert len(other["conversation_trace"]["items"]) == 1
    longer = row(asked, text_message("assistant", "4"), question="2+2?")
    assert len(longer["conversation_trace"]["items"]) == 2


@pytest.mark.parametrize(
    ("name", "gained"),
    [
        ("attribute_rows", {"question": "2+2?"}),
        ("inspect_dataset", {"input": "2+2?", "target": ""}),
    ],
)
def test_what_a_format_needs_beside_a_task_is_gained_once(
    name: str, gained: dict[str, Any]
) -> None:
    task = TaskContent("a", (text_message("user", "2+2?"),), {"level": 1}, None, ())
    rows, losses = written(name, task)
    assert losses == []
    (row,) = read_tasks(io.BytesIO(as_lines(rows)), format=name)
    assert row.task is not None
    assert row.task.messages == task.messages
    assert row.task.attributes == {"level": 1, **gained}
    assert any(note.kind == "converted" for note in row.notes)
    assert written(name, row.task) == (rows, [])


def test_a_recorded_conversation_stays_a_column_for_load_trace() -> None:
    trace = {"items": [{"type": "message", "role": "user", "content": "hi"}]}
    (row,) = read_tasks(io.BytesIO(as_lines([{"question": "2+2", "conversation_trace": trace}])))
    assert row.task is not None
    assert row.task.attributes == {"question": "2+2", "conversation_trace": trace}
    assert [message.text for message in row.task.messages] == ["hi"]
    (again,), losses = written("attribute_rows", row.task)
    assert (again, losses) == (row.task.attributes, [])


@pytest.mark.parametrize("container", ["csv", "parquet"])
@SLOW
@given(many=st.lists(any_tasks, max_size=3))
def test_tables_carry_tasks_whole(container: str, many: list[TaskContent]) -> None:
    kept: list[TaskContent] = []
    rows = []
    for task in many:
        made, losses = written("openreward", task)
        if not losses:
            kept.append(task)
            rows += made
    data = as_lines(rows, container)
    read = list(read_tasks(io.BytesIO(data), file_name=f"tasks.{container}"))
    if not kept:
        return
    assert [row.task is not None for row in read] == [True] * len(kept), read
    for row, task in zip(read, kept, strict=True):
        assert row.task is not None
        assert row.task.key == task.key
        assert exactly(row.task.messages) == exactly(task.messages)
        assert json.dumps(row.task.attributes) == json.dumps(task.attributes)
        assert row.task.candidates == task.candidates
