"""Whatever somebody sends is read or refused in words: no other exception leaves a reader."""

import io
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.dialogue.completeness import complete_chat_reply, complete_responses_reply, usage_of
from apps.dialogue.errors import DialogueError
from apps.dialogue.file_formats import read_tasks
from apps.dialogue.message import parse_conversation
from apps.dialogue.provider_formats import FORMATS

KEY_TEXT = (
    "type role content blocks text image_url url detail tool_calls id function name arguments "
    "tool_call_id function_call refusal reasoning_content messages system source data media_type "
    "thinking signature input tool_use_id is_error contents parts function_response response "
    "function_call inline_data mime_type call_id output summary encrypted_content phase status "
    "conversation question_id turns question tools functions tags key choices message "
    "finish_reason usage prompt_tokens output_tokens mimeType"
)
KEYS = KEY_TEXT.split()
WORD_TEXT = (
    "user assistant system developer tool function model text image reasoning tool_call "
    "tool_result image_url refusal thinking redacted_thinking tool_use message function_call "
    "function_call_output input_text output_text input_image item_reference base64 custom stop "
    'tool_calls completed data:image/png;base64,UE5H {} [] {"x":1} \x00 \ud800'
)
WORDS = WORD_TEXT.split(" ")
leaves = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.just("")
)
nonsense = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
        | st.fixed_dictionaries(
            {"role": st.sampled_from(WORDS[:7]), "content": inner, "tool_calls": inner}
        )
        | st.fixed_dictionaries({"type": st.sampled_from(WORDS), "text": inner, "id": inner})
    ),
    max_leaves=12,
)
READERS = {
    **{name: each.read for name, each in FORMATS.items()},
    "canonical": parse_conversation,
    "chat reply": lambda value: complete_chat_reply(value, tools_offered=True),
    "responses reply": lambda value: complete_responses_reply(value, tools_offered=True),
}
thorough = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def wrapped(name: str, value: Any) -> Any:
    match name:
        case "anthropic":
            return {"messages": [value], "system": value}
        case "google":
            return {"contents": [value], "system_instruction": value}
        case "chat reply":
            return {"choices": [{"message": value, "finish_reason": "stop"}], "usage": value}
        case "responses reply":
            return {"output": [value], "status": "completed", "usage": value}
        case _:
            return [value]


@pytest.mark.parametrize("name", READERS)
@thorough
@given(nonsense)
def test_a_reader_reads_or_refuses(name: str, value: Any) -> None:
    for given_value in (value, wrapped(name, value)):
        try:
            READERS[name](given_value)
        except DialogueError as refusal:
            said = str(refusal)
            assert "\n" not in said


@thorough
@given(nonsense)
def test_the_tokens_of_anything_are_counted_or_not_known(value: Any) -> None:
    usage = usage_of({"usage": value})
    assert usage is None or usage.input_tokens >= usage.cached_tokens >= 0


@thorough
@given(nonsense)
def test_every_row_of_a_file_gets_its_verdict(value: Any) -> None:
    rows = list(read_tasks(io.BytesIO(json.dumps([value, {"messages": value}]).encode())))
    assert len(rows) >= 2  # more where the value looks like columns of rows
    for row in rows:
        refused = [note for note in row.notes if note.kind == "refused"]
        assert (row.task is None) == bool(refused)
