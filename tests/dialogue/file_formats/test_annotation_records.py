"""Label Studio, Argilla and verifiers."""

from typing import Any

import pytest

from tests.dialogue.file_formats.reading import codes, read_all, read_one, said, task_of

CHAT = [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]
PAIR = [("user", "Q"), ("assistant", "A")]


def added(text: str, **keys: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    result = [{"type": "chatmessage", "value": {"chatmessage": message}}, {"type": "rating"}]
    return {"id": 9, "result": result, **keys}


def test_messages_the_annotator_added_follow_the_conversation() -> None:
    row = {"id": 3, "data": {"chat": CHAT[:1], "topic": "t"}, "annotations": [added("A")]}
    read = read_one(row)
    assert read.format == "label_studio"
    assert read.task is not None
    assert said(read.task.messages) == PAIR
    assert read.task.key == "3"
    assert read.task.attributes["topic"] == "t"
    assert read.task.attributes["annotations"] == row["annotations"]


def test_each_annotation_that_goes_on_is_a_branch_and_cancelled_ones_are_none() -> None:
    annotations = [added("A"), added("B", ground_truth=True), added("C", was_cancelled=True)]
    row = {"id": 3, "data": {"chat": CHAT[:1]}, "annotations": annotations}
    read = read_all([row])
    assert [each.task.messages[-1].text for each in read if each.task] == ["B", "A"]
    assert [each.task.key for each in read if each.task] == ["3", "3-9"]


@pytest.mark.parametrize(
    ("turns", "roles"),
    [
        ([{"author": "Ann", "text": "Q"}, {"author": "Bo", "text": "A"}], "uu"),
        ([{"speaker": "Customer", "text": "Q"}, {"speaker": "Agent 2", "text": "A"}], "ua"),
        ([{"name": "Ann (customer)", "value": "Q"}, {"name": "Support-Bot", "value": "A"}], "ua"),
    ],
)
def test_speakers_are_told_by_their_names(turns: list[dict[str, str]], roles: str) -> None:
    row = {"data": {"dialogue": turns}}
    assert read_one(row).roles == roles
    assert "speaker_names" in codes(row)
    name = next(iter(turns[0].values()))
    assert task_of(row).messages[0].detail == {"speaker": name}


def test_the_minimal_export_has_its_data_at_the_top() -> None:
    row = {"id": 1, "chat": CHAT, "annotator": 2, "annotation_id": 4, "rating": 5}
    content = task_of(row)
    assert read_one(row).format == "label_studio"
    assert content.attributes == {"annotator": 2, "annotation_id": 4, "rating": 5}


def test_data_without_a_conversation_asks_for_a_mapping() -> None:
    read = read_one({"id": 1, "data": {"image": "x.png"}, "annotations": []})
    assert read.format == "label_studio"
    assert read.notes[-1].code == "needs_column_mapping"


def test_names_that_the_task_and_its_data_share_are_both_kept() -> None:
    row = {"id": 1, "data": {"chat": CHAT, "meta": "inner"}, "meta": "outer", "annotations": []}
    attributes = task_of(row).attributes
    assert (attributes["meta"], attributes["data"]) == ("outer", {"meta": "inner"})


def test_a_chat_field_of_argilla_is_the_conversation() -> None:
    row = {"id": "r", "fields": {"chat": CHAT, "system": "S"}, "suggestions": {}, "responses": {}}
    content = task_of(row)
    assert read_one(row).format == "argilla_records"
    assert said(content.messages) == [("system", "S"), *PAIR]
    assert content.attributes == {"suggestions": {}, "responses": {}}


def test_text_fields_of_argilla_are_taken_by_their_names() -> None:
    row = {"fields": {"instruction": "Q", "response": "A", "x": 1}, "suggestions": {}}
    content = task_of(row)
    assert said(content.messages) == PAIR
    assert content.attributes["fields"] == {"x": 1}
    assert "needs_column_mapping" in codes(row)


@pytest.mark.parametrize("as_list", [True, False])
def test_chosen_and_rejected_fields_of_argilla_are_candidates(as_list: bool) -> None:
    good, bad = ([{"role": "assistant", "content": each}] if as_list else each for each in "AB")
    row = {"fields": {"prompt": "Q", "chosen": good, "rejected": bad}, "suggestions": {}}
    content = task_of(row)
    assert read_one(row).format == "argilla_records"
    assert said(content.messages) == [("user", "Q")]
    assert [(each.verdict, each.messages[0].text) for each in content.candidates] == [
        ("chosen", "A"),
        ("rejected", "B"),
    ]
    assert content.attributes == {"suggestions": {}}


def test_whole_conversations_of_argilla_share_their_prompt() -> None:
    other = [CHAT[0], {"role": "assistant", "content": "B"}]
    content = task_of({"fields": {"chosen": CHAT, "rejected": other}, "suggestions": {}})
    assert said(content.messages) == PAIR[:1]
    assert [each.messages[0].text for each in content.candidates] == ["A", "B"]


def test_flat_records_and_fields_that_tell_nothing() -> None:
    flat = {"status": "completed", "chat": CHAT, "q.suggestion": "good", "q.responses": ["bad"]}
    assert read_one(flat).format == "argilla_records"
    assert said(task_of(flat).messages) == PAIR
    read = read_one({"fields": {"a": "x", "b": "y"}, "responses": {}})
    assert read.notes[-1].code == "needs_column_mapping"


def test_a_prompt_of_verifiers_is_the_conversation_and_its_answer_an_attribute() -> None:
    row = {"prompt": CHAT[:1], "answer": "4", "info": '{"n": 1}', "task": "math", "example_id": 7}
    content = task_of(row)
    assert read_one(row).format == "verifiers"
    assert said(content.messages) == PAIR[:1]
    assert content.key == "7"
    assert content.attributes["answer"] == "4"
    assert content.attributes["info"] == {"n": 1}
    assert "stringified_json" in codes(row)


def test_a_completion_with_its_reward_is_a_candidate() -> None:
    row = {"prompt": CHAT[:1], "completion": CHAT[1:], "answer": "A", "reward": 0.5, "task": "t"}
    content = task_of(row)
    (candidate,) = content.candidates
    assert said(candidate.messages) == PAIR[1:]
    assert candidate.detail == {"reward": 0.5}
    assert "reward" not in content.attributes


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"question": "Q", "answer": "A", "info": {}}, "verifiers"),
        ({"question": "Q", "answer": "A"}, "alpaca"),
        ({"prompt": CHAT[:1], "completion": CHAT[1:]}, "prompt_completion"),
        ({"prompt": CHAT[:1], "chosen": CHAT[1:], "rejected": CHAT[1:], "answer": "A"},
         "preference_messages"),
    ],
)  # fmt: skip
def test_what_is_no_row_of_verifiers_is_left_to_others(row: dict[str, Any], name: str) -> None:
    assert read_one(row).format == name


def test_a_question_and_its_answer_say_what_else_they_could_be() -> None:
    notes = {note.code: note.message for note in read_one({"question": "Q", "answer": "A"}).notes}
    assert "grader" in notes["ambiguous"]
    assert "map the columns" in notes["ambiguous"]
    assert "key_variant" in notes
