"""Pasted texts become turns: usual speakers, named ones, headings, calls of tools."""

import io
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.file_formats import ReadRow, TaskContent, read_tasks


def read(text: str, name: str = "") -> ReadRow:
    (row,) = read_tasks(io.BytesIO(text.encode()), file_name=name)
    return row


def task(text: str) -> TaskContent:
    row = read(text)
    assert row.task is not None, row.notes
    return row.task


def said(text: str) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in task(text).messages]


def codes(text: str) -> set[str]:
    return {note.code for note in read(text).notes if note.code}


@pytest.mark.parametrize(
    "text",
    [
        "User: hi\nAssistant: ho",
        "Human:hi\n\nAI:   ho".replace(":   ", ": "),
        "USER: hi\nBOT: ho",
        "## User\n\nhi\n\n## Assistant\n\nho\n",
        "### Human\nhi\n### GPT:\nho",
        "**You:** hi\n\n**ChatGPT:** ho",
        "**User**: hi\n**Assistant**: ho",
        "- **User:** hi\n- **Assistant:** ho",
        "You said:\nhi\nChatGPT said:\nho\n",
        "[User]: hi\n[Assistant]: ho",
        "<user> hi\n<assistant> ho",
        "q: hi\na: ho",
        "U: hi\nA: ho",
        "[09:14] Ann: hi\n[09:15] Bo: ho",
        "[12/31/23, 9:14:01 PM] Ann: hi\n[12/31/23, 9:15:01 PM] Bo: ho",
        "12/31/23, 9:14 PM - Ann: hi\n12/31/23, 9:15 PM - Bo: ho",
        "2026-01-02 09:14 - Ann: hi\n2026-01-02 09:15 - Bo: ho",
        "Ann: hi\nBo: ho",
        "Agent Smith: ho\nMs. Jones: hi",
        "User: hi\r\nAssistant: ho\r\n",
        "You said: hi\n\nClaude responded: ho",
        "You\nhi\nChatGPT\nho\n",
        "User (10:01): hi\nAssistant (some-model): ho",
        "2026-01-02 09:14:01 user: hi\n2026-01-02 09:14:09 assistant: ho",
        "Q1: hi\nA1: ho",
        "\U0001f9d1 User: hi\n\U0001f916 Assistant: ho",
        "\u7528\u6237\uff1ahi\n\u52a9\u624b\uff1aho",
        "Usuario: hi\nAsistente: ho",
    ],
)
def test_many_ways_to_mark_speakers_are_known(text: str) -> None:
    turns = [("user", "hi"), ("assistant", "ho")]
    assert said(text) == (turns if not text.startswith("Agent") else turns[::-1])


def test_a_turn_goes_on_below_and_keeps_its_lines() -> None:
    assert said("User: a\n\n  b: c\n\nthere: d\nAssistant:\n\n\n  e  \n") == [
        ("user", "a\n\n  b: c\n\nthere: d"), ("assistant", "  e  ")
    ]  # fmt: skip


def test_marks_in_code_begin_no_turn() -> None:
    text = (
        "User: look\n```\nUser: x\n```\nAssistant: ```py\nHuman: y\n```\n"
        "User: ``` never closed\nAI: z"
    )
    assert said(text) == [
        ("user", "look\n```\nUser: x\n```"), ("assistant", "```py\nHuman: y\n```"),
        ("user", "``` never closed"), ("assistant", "z"),
    ]  # fmt: skip
    places = [note.place for note in read(text).notes if note.code == "marker_in_code"]
    assert places == ["line 3", "line 6"]


def test_named_speakers_are_told_and_kept() -> None:
    text = (
        "[09:14] Priya (customer): My lamp\n[09:15] Support - Joel: Which?\n"
        "[09:15] Priya (customer): L2\n       tall\n"
    )
    assert said(text) == [("user", "My lamp"), ("assistant", "Which?"), ("user", "L2\ntall")]
    assert task(text).messages[1].detail == {"speaker": "Support - Joel", "time": "09:15"}
    (note,) = [note for note in read(text).notes if note.code == "speaker_names"]
    assert "'Priya (customer)' as user" in note.message


def test_a_word_before_a_colon_is_no_speaker_beside_usual_ones() -> None:
    assert said("User: hi\nNote: this\nAnn: that\nAssistant: ho") == [
        ("user", "hi\nNote: this\nAnn: that"), ("assistant", "ho")
    ]  # fmt: skip
    assert said("Ann: hi\nNote: see\nBo: ho\nAnn: x") == [
        ("user", "hi\nNote: see"), ("assistant", "ho"), ("user", "x")
    ]  # fmt: skip


def test_calls_of_tools_and_their_results_become_real() -> None:
    text = (
        "User: where?\nAssistant: I look.\n"
        '[tool_call find] {"number": "P-1",\n "deep": {"a": [1]}}\n'
        "and [tool_call other] {}\nTool: bay 3\nTool: \nAssistant: Bay 3."
    )
    row = read(text)
    assert row.roles == "uatta"
    assert row.task is not None
    _, asked, answered, _ = row.task.messages
    assert [block.type for block in asked.blocks] == ["text", "tool_call", "text", "tool_call"]
    calls = [block for block in asked.blocks if block.type == "tool_call"]
    assert calls[0].input == {"number": "P-1", "deep": {"a": [1]}}
    results = [block for block in answered.blocks if block.type == "tool_result"]
    assert [result.tool_call_id for result in results] == [call.id for call in calls]
    assert "tool_text" in codes(text)


@pytest.mark.parametrize(
    "written",
    ['[tool_call f] {"a": ', "[tool_call f] {a}", '[tool_call f] {"a": 1} in a sentence',
     "[tool_call f] []", '[tool_call f] {"a": NaN}', "[tool_call f] " + '{"a":' * 5000],
)  # fmt: skip
def test_what_only_looks_like_a_call_stays_text(written: str) -> None:
    assert said(f"User: go\nAssistant: {written}") == [("user", "go"), ("assistant", written)]


def test_a_result_without_a_call_is_kept_and_noted() -> None:
    row = read("User: go\nTool: x\nUser: y")
    assert row.roles == "utu"
    assert "orphan_tool_result" in codes("User: go\nTool: x\nUser: y")


def test_text_before_the_first_speaker_is_kept() -> None:
    assert task("A chat.\n\nUser: hi\nAI: ho").attributes == {"preamble": "A chat."}
    assert "preamble" in codes("A chat.\n\nUser: hi\nAI: ho")


def test_a_text_in_a_row_with_other_keys_keeps_them() -> None:
    row = read('{"id": "x", "text": "User: hi\\nAssistant: ho", "n": 1}')
    assert (row.format, row.roles) == ("transcript", "ua")
    assert row.task is not None
    assert (row.task.key, row.task.attributes) == ("x", {"n": 1})


@pytest.mark.parametrize("text", ["prose", "a: b\nc", "just\nsome: prose, as it is\n", "Step 1: x"])
def test_a_text_without_speakers_is_refused_with_what_would_be_right(text: str) -> None:
    row = read(text, "x.txt")
    assert row.task is None
    assert row.notes[-1].code == "no_speakers"
    assert "User:" in row.notes[-1].message


LINES = st.sampled_from([
    "User: a", "Assistant: b", "## User", "**AI:** c", "Tool: d", "```", "~~~", "", "  ", "Ann: x",
    "Bo: y", "[09:14] Ann: x", "[tool_call f] {}", "[tool_call f] {", "You said:", "q: x", "a: y",
    "System:", "text", "\u2028", "\t", "User:", "#", "**", ":", "```py",
])  # fmt: skip


@given(st.lists(LINES, max_size=12))
def test_any_text_is_read_or_refused_and_no_word_is_lost(lines: list[str]) -> None:
    text = "\n".join(lines)
    for row in read_tasks([text.encode()], file_name="x.txt"):
        if row.task is None:
            continue
        kept = " ".join(
            [*(repr(message.to_wire()) for message in row.task.messages), repr(row.task.attributes)]
        )
        for line in lines:
            if line in ("text", "q: x", "a: y"):
                assert line.partition(": ")[2] in kept or line in kept


def test_a_long_text_is_read_in_time_that_grows_with_it() -> None:
    text = "User: hi\n" + ("word " * 12 + "\n") * 100_000 + "Assistant: ```\n" * 30_000
    began = time.process_time()
    assert read(text).task is not None
    assert time.process_time() - began < 8


def test_a_conversation_written_as_one_text_is_read_again() -> None:
    row = read(
        '[user]\nwhere?\n[assistant]\n[tool_call find] {"n": 1}\n[user]\n[tool_result (error)]\n'
        "lost\n[assistant]\nLost."
    )
    assert row.roles == "uata"
    assert row.task is not None
    (result,) = row.task.messages[2].blocks
    assert result.type == "tool_result"
    assert (result.is_error, result.blocks[0].to_wire()["text"]) == (True, "lost")
    assert "speaker_names" not in {note.code for note in row.notes}


def test_what_stands_behind_a_name_is_kept() -> None:
    (asked, said_then) = task("User (10:01): hi\nAssistant (some-model): ho").messages
    assert asked.detail == {"time": "10:01"}
    assert said_then.detail == {"label": "some-model"}


def test_a_speaker_within_a_line_is_told() -> None:
    row = read("USER: hi ASSISTANT: ho\nASSISTANT: bye", "x.txt")
    assert [(note.code, note.place) for note in row.notes] == [("marker_in_text", "line 1")]


def test_headings_of_a_pasted_text_are_a_transcript_and_of_a_dataset_a_template() -> None:
    text = "### Human: hi\n### Assistant: ho"
    assert read(text, "x.txt").format == "transcript"
    row = json.dumps({"text": text})
    assert read(row, "x.jsonl").format == "templated_text"


@pytest.mark.parametrize("column", ["conversation", "transcript", "dialogue"])
def test_a_column_may_hold_a_transcript(column: str) -> None:
    row = read(json.dumps({column: "User: hi\nAssistant: ho", "mood": "good"}), "x.jsonl")
    assert (row.format, row.roles) == ("transcript", "ua")
    assert row.task is not None
    assert row.task.attributes == {"mood": "good"}


@pytest.mark.parametrize(
    "text",
    [
        "Notes on the device.\n\nSystem: Linux\nModel: T14\n",
        "The study asked two questions.\nResponse: 12 said yes.\nResult: nothing\n",
        "# Report\n\nAgent: the tool we built\nCustomer: ACME\n",
    ],
)
def test_everyday_words_in_prose_begin_no_turn(text: str) -> None:
    row = read(text, "x.txt")
    assert (row.task, row.notes[-1].code) == (None, "no_speakers")


def test_everyday_words_within_a_turn_of_another_kind_are_its_text() -> None:
    text = "## User\nMy machine:\nSystem: Linux\nModel: T14\n## Assistant\nho"
    asked, _ = task(text).messages
    assert asked.text == "My machine:\nSystem: Linux\nModel: T14"


def test_everyday_words_are_speakers_where_the_text_begins_with_one_of_their_kind() -> None:
    assert [m.role for m in task("System: S\nUser: hi\nModel: ho").messages] == [
        "system", "user", "assistant",
    ]  # fmt: skip
    assert [m.role for m in task("Customer: hi\nAgent: ho").messages] == ["user", "assistant"]


def test_a_tool_speaks_below_an_assistant_whatever_stands_before_them() -> None:
    text = "My log\n\nUser: hi\nAssistant: [tool_call f] {}\nTool: 5\nAssistant: ho"
    assert read(text, "x.txt").roles == "uata"
