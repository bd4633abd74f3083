"""Whatever stands in a row of training data, it is read or refused; nothing crashes."""

import copy
import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.dialogue.file_formats import FORMATS, read_tasks
from tests.dialogue.conversations import json_values

QA = [{"from": "human", "value": "Q"}, {"from": "gpt", "value": "A"}]
CALLS = [
    QA[0],
    {"from": "function_call", "value": '{"name": "f", "arguments": {"n": 1}}'},
    {"from": "observation", "value": "1"},
]
CHAT = [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]
HUMAN = "\n\nHuman: Q\n\nAssistant: "
SAMPLES: dict[str, list[dict[str, Any]]] = {
    "openai_dpo": [
        {
            "input": {"messages": CHAT[:1], "tools": [{"name": "f"}]},
            "preferred_output": CHAT[1:],
            "non_preferred_output": CHAT[1:],
        },
        {"messages": CHAT, "rejected_response": "B"},
    ],
    "hh_rlhf": [{"chosen": f"{HUMAN}A", "rejected": f"{HUMAN}B"}],
    "sharegpt_preference": [{"conversations": QA[:1], "chosen": QA[1], "rejected": QA[1]}],
    "preference_messages": [
        {"prompt": CHAT[:1], "chosen": CHAT[1:], "rejected": CHAT[1:], "chosen_score": 1},
        {"chosen": CHAT, "rejected": CHAT, "messages": CHAT, "prompt": "Q"},
    ],
    "preference_text": [
        {"prompt": "Q", "chosen": "A", "rejected": "B", "score_chosen": 1},
        {"chosen": "a b", "rejected": "a c"},
        {"instruction": "I", "input": "X", "chosen": "A", "rejected": "B", "history": [["p", "q"]]},
    ],
    "kto": [
        {"prompt": "Q", "completion": "A", "label": True},
        {"messages": CHAT, "label": False, "system": "S"},
    ],
    "arena_battle": [
        {
            "question_id": 1,
            "model_a": "m",
            "model_b": "n",
            "winner": "model_a",
            "conversation_a": CHAT,
            "conversation_b": CHAT,
        },
        {
            "model_a": "m",
            "prompt": '["Q"]',
            "response_a": '["A"]',
            "response_b": '["B"]',
            "winner_tie": 1,
        },
    ],
    "wildchat": [{"conversation": CHAT, "conversation_hash": "c", "turn": 1}],
    "sharegpt": [
        {"conversations": CALLS, "system": "S", "tools": '[{"name": "f"}]', "images": ["x.png"]},
        {"conversation": [{"human": "Q", "assistant": "A", "system": "S"}]},
        {"items": QA},
    ],
    "mt_bench_answer": [
        {"question_id": 1, "answer_id": "a", "choices": [{"turns": ["A"]}, {"turns": ["B"]}]}
    ],
    "oasst_messages": [
        {"message_id": "m", "parent_id": None, "text": "Q", "role": "prompter", "rank": 0}
    ],
    "oasst_trees": [
        {
            "message_tree_id": "m",
            "prompt": {
                "text": "Q",
                "role": "prompter",
                "replies": [
                    {"text": "A", "role": "assistant", "rank": 0, "replies": []},
                    {"text": "B", "role": "assistant", "rank": 1, "deleted": False},
                ],
            },
        }
    ],
    "ultrafeedback_raw": [
        {
            "instruction": "Q",
            "completions": [{"model": "m", "response": "A", "annotations": {"x": {"Rating": "1"}}}],
        }
    ],
    "alpaca": [
        {"instruction": "I", "input": "X", "output": "A", "history": [["P", "B"]]},
        {"question": "Q", "answer": "A"},
        {"instruction": "I", "output": ["A", "B"]},
    ],
}
ALL = [(name, row) for name, rows in SAMPLES.items() for row in rows]

rows_of_anything = st.dictionaries(
    st.sampled_from(sorted({key for _, row in ALL for key in row})), json_values, max_size=5
)


def read(rows: list[Any], name: str = "auto") -> None:
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    for each in read_tasks(io.BytesIO(data), format=name):
        refused = [note for note in each.notes if note.kind == "refused"]
        assert (each.task is None) == bool(refused)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    if isinstance(value, dict):
        for key, each in value.items():
            found += places(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            found += places(each, (*path, index))
    return found


def replaced(row: dict[str, Any], path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(row)
    holder: Any = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return changed


@pytest.mark.parametrize(("name", "row"), ALL)
def test_the_samples_are_what_they_are_called(name: str, row: dict[str, Any]) -> None:
    data = json.dumps(row).encode()
    assert {each.format for each in read_tasks(io.BytesIO(data + b"\n" + data))} == {name}


@settings(max_examples=25)
@pytest.mark.parametrize(("name", "row"), ALL)
@given(st.data())
def test_any_value_in_any_place_is_read_or_refused(
    name: str, row: dict[str, Any], data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from(places(row)[1:]))
    changed = replaced(row, path, data.draw(json_values))
    read([row, changed])
    read([row, changed], name)


@settings(max_examples=40)
@pytest.mark.parametrize("name", sorted(SAMPLES))
@given(rows_of_anything)
def test_any_row_may_be_forced_into_any_format(name: str, row: dict[str, Any]) -> None:
    assert name in FORMATS
    read([row, {"id": "k"}], name)
