"""Two answers to one conversation become a task with candidates; what is odd about them is said."""

from typing import Any

import pytest

from tests.dialogue.file_formats.reading import codes, read_one, said, sides, task_of


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def answer(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


ASKED = [("user", "Q")]
BOTH = {"chosen": [("assistant", "A")], "rejected": [("assistant", "B")]}


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"prompt": "Q", "chosen": "A", "rejected": "B"}, "preference_text"),
        ({"question": "Q", "chosen": "A", "rejected": "B"}, "preference_text"),
        ({"input": "Q", "chosen": "A", "rejected": "B"}, "preference_text"),
        (
            {"prompt": "Q", "chosen_response": "A", "rejected_response": "B"},
            "preference_text",
        ),
        (
            {"prompt": [user("Q")], "chosen": [answer("A")], "rejected": [answer("B")]},
            "preference_messages",
        ),
        (
            {"prompt": "Q", "chosen": [answer("A")], "rejected": [answer("B")]},
            "preference_messages",
        ),
        (
            {"messages": [user("Q")], "chosen": answer("A"), "rejected": answer("B")},
            "preference_messages",
        ),
        (
            {"chosen": [user("Q"), answer("A")], "rejected": [user("Q"), answer("B")]},
            "preference_messages",
        ),
        (
            {
                "prompt": "Q",
                "messages": [user("Q"), answer("A")],
                "chosen": [user("Q"), answer("A")],
                "rejected": [user("Q"), answer("B")],
            },
            "preference_messages",
        ),
        (
            {
                "chosen_messages": [
                    {"role": "user", "content": [{"type": "text", "value": "Q"}]},
                    {"role": "assistant", "content": [{"type": "text", "value": "A"}]},
                ],
                "rejected_messages": [
                    {"role": "user", "content": [{"type": "text", "value": "Q"}]},
                    {"role": "assistant", "content": [{"type": "text", "value": "B"}]},
                ],
            },
            "preference_messages",
        ),
        (
            {
                "conversations": [{"from": "human", "value": "Q"}],
                "chosen": {"from": "gpt", "value": "A"},
                "rejected": {"from": "gpt", "value": "B"},
            },
            "sharegpt_preference",
        ),
        (
            {
                "input": {"messages": [user("Q")]},
                "preferred_output": [answer("A")],
                "non_preferred_output": [answer("B")],
            },
            "openai_dpo",
        ),
        ({"messages": [user("Q"), answer("A")], "rejected_response": "B"}, "openai_dpo"),
        (
            {"messages": [user("Q"), answer("A")], "rejected_messages": [user("Q"), answer("B")]},
            "openai_dpo",
        ),
        (
            {"chosen": "\n\nHuman: Q\n\nAssistant: A", "rejected": "\n\nHuman: Q\n\nAssistant: B"},
            "hh_rlhf",
        ),
    ],
)
def test_every_shape_of_a_pair_becomes_a_prompt_with_two_candidates(
    row: dict[str, Any], name: str
) -> None:
    read = read_one(row)
    assert read.format == name
    assert said(task_of(row).messages) == ASKED
    assert sides(row) == BOTH
    assert task_of(row).attributes == {}
    assert read.roles == "u"
    assert not any(note.code in ("missing_side", "diverge_early") for note in read.notes)


def test_a_system_text_and_an_input_beside_an_instruction_come_before_the_answers() -> None:
    row = {"system": "S", "instruction": "I", "input": "X", "chosen": "A", "rejected": "B"}
    assert said(task_of(row).messages) == [("system", "S"), ("user", "I\nX")]
    assert task_of(row).messages[1].detail == {"instruction": "I", "input": "X"}


def test_texts_without_a_prompt_share_the_words_they_begin_with() -> None:
    row = {"chosen": "The sky is blue.", "rejected": "The sky is black."}
    assert said(task_of(row).messages) == [("user", "The sky is")]
    assert sides(row) == {
        "chosen": [("assistant", " blue.")],
        "rejected": [("assistant", " black.")],
    }
    assert "implicit_prompt" in codes(row)


def test_texts_with_nothing_in_common_and_no_prompt_ask_for_a_mapping() -> None:
    read = read_one({"chosen": "Blue.", "rejected": "Black."})
    assert read.task is None
    assert read.notes[-1].code == "needs_column_mapping"


def test_a_prompt_that_is_a_transcript_becomes_turns() -> None:
    prompt = "\n\nHuman: Q\n\nAssistant: W\n\nHuman: R\n\nAssistant:"
    row = {"prompt": prompt, "chosen": "A", "rejected": "B"}
    assert said(task_of(row).messages) == [("user", "Q"), ("assistant", "W"), ("user", "R")]
    assert sides(row) == BOTH


def test_the_prompt_never_swallows_an_answer() -> None:
    turns = [user("Q"), answer("A")]
    longer = [*turns, user("R"), answer("A")]
    row = {"chosen": turns, "rejected": longer}
    assert said(task_of(row).messages) == ASKED
    assert len(sides(row)["rejected"]) == 3
    assert "diverge_early" in codes(row)


def test_the_prompt_never_ends_in_a_call_that_waits() -> None:
    call = {
        "role": "assistant",
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ],
    }
    result = {"role": "tool", "tool_call_id": "c"}
    row = {
        "chosen": [user("Q"), call, {**result, "content": "1"}, answer("A")],
        "rejected": [user("Q"), call, {**result, "content": "2"}, answer("B")],
    }
    assert said(task_of(row).messages) == ASKED
    assert "diverge_early" not in codes(row)


def test_pairs_that_differ_before_their_last_turn_are_noted() -> None:
    row = {
        "chosen": [user("Q"), answer("A"), user("R"), answer("C")],
        "rejected": [user("Q"), answer("B"), user("R"), answer("D")],
    }
    assert read_one(row).roles == "u"
    assert "diverge_early" in codes(row)


@pytest.mark.parametrize("rejected", [None, []])
def test_a_missing_side_is_noted_and_the_other_is_kept(rejected: Any) -> None:
    row = {"chosen": [user("Q"), answer("A")], "rejected": rejected, "score_rejected": 2}
    assert said(task_of(row).messages) == ASKED
    assert task_of(row).candidates[0].detail == {"rejected_score": 2}
    assert sides(row) == {"chosen": [("assistant", "A")]}
    assert "missing_side" in codes(row)


def test_identical_answers_are_noted_and_both_kept() -> None:
    row = {"prompt": "Q", "chosen": "A", "rejected": "A"}
    assert len(task_of(row).candidates) == 2
    assert "identical_pair" in codes(row)


def test_sides_that_begin_differently_are_refused() -> None:
    row = {"chosen": [user("Q"), answer("A")], "rejected": [user("R"), answer("B")]}
    read = read_one(row)
    assert read.task is None
    assert "no prompt" in read.notes[-1].message


def test_what_a_row_says_of_one_side_goes_with_that_answer() -> None:
    row = {
        "prompt": "Q",
        "chosen": "A",
        "rejected": "B",
        "chosen_model": "m-1",
        "score_chosen": 8.5,
        "rejected-rating": 2,
        "source": "x",
    }
    good, bad = task_of(row).candidates
    assert (good.model, good.detail) == ("m-1", {"score": 8.5})
    assert (bad.model, bad.detail) == ("", {"rating": 2})
    assert task_of(row).attributes == {"source": "x"}


def test_a_prompt_that_neither_side_holds_stays_an_attribute() -> None:
    row = {
        "prompt": "Elsewhere",
        "chosen": [user("Q"), answer("A")],
        "rejected": [user("Q"), answer("B")],
    }
    assert task_of(row).attributes == {"prompt": "Elsewhere"}
    assert "prompt_differs" in codes(row)


def test_tools_and_settings_of_an_openai_pair_are_kept() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    given = {"messages": [user("Q")], "tools": [tool], "parallel_tool_calls": False}
    row = {
        "input": given,
        "preferred_output": [answer("A")],
        "non_preferred_output": [answer("B")],
        "note": 1,
    }
    task = task_of(row)
    assert task.tools == [tool]
    assert task.attributes == {"parallel_tool_calls": False, "note": 1}


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        ({"prompt": "Q", "completion": "A", "label": True}, "chosen"),
        (
            {"prompt": [user("Q")], "completion": [answer("A")], "label": False},
            "rejected",
        ),
        ({"messages": [user("Q"), answer("A")], "label": True}, "chosen"),
        ({"messages": [user("Q")], "completion": "A", "label": False}, "rejected"),
        (
            {
                "conversations": [
                    {"from": "human", "value": "Q"},
                    {"from": "gpt", "value": "A"},
                ],
                "kto_tag": False,
            },
            "rejected",
        ),
        ({"instruction": "Q", "input": "", "output": "A", "kto_tag": True}, "chosen"),
    ],
)
def test_a_labelled_answer_becomes_one_candidate(row: dict[str, Any], verdict: str) -> None:
    assert read_one(row).format == "kto"
    assert said(task_of(row).messages) == ASKED
    assert sides(row) == {verdict: [("assistant", "A")]}
    assert task_of(row).attributes == {}


def test_a_label_without_an_answer_stays_an_attribute() -> None:
    row = {"messages": [user("Q")], "label": True}
    assert task_of(row).candidates == ()
    assert task_of(row).attributes == {"label": True}
    assert "missing_side" in codes(row)


def test_a_text_with_a_class_is_no_labelled_answer() -> None:
    assert read_one({"question": "Q", "label": True}).format != "kto"


def test_transcripts_are_split_at_paragraphs_alone_and_their_defects_noted() -> None:
    begin = "\n\nHuman: Write.\n\nHere.\n\nAssistant: Sure"
    row = {
        "chosen": f'{begin}: "Human: no turn."\nAssistant: no turn either.\n\nAssistant:',
        "rejected": f"{begin}.\n\nAssistant: Again.",
    }
    assert said(task_of(row).messages) == [("user", "Write.\n\nHere.")]
    assert sides(row) == {
        "chosen": [
            ("assistant", 'Sure: "Human: no turn."\nAssistant: no turn either.'),
            ("assistant", ""),
        ],
        "rejected": [("assistant", "Sure."), ("assistant", "Again.")],
    }
    assert codes(row) >= {"same_role_twice", "empty_turn", "marker_in_text"}


def test_completions_become_candidates_with_what_is_known_of_them() -> None:
    completion = {
        "model": "m-1",
        "custom_system_prompt": "Be honest.",
        "response": "Vega.",
        "overall_score": 8.0,
        "annotations": {"honesty": {"Rating": "N/A"}, "helpfulness": [{"Rating": "5"}]},
    }
    row = {"instruction": "Name a star.", "source": "x", "completions": [completion]}
    (candidate,) = task_of(row).candidates
    assert (candidate.verdict, candidate.model) == ("", "m-1")
    assert said(candidate.messages) == [("assistant", "Vega.")]
    assert candidate.detail["custom_system_prompt"] == "Be honest."
    assert candidate.detail["annotations"] == completion["annotations"]
    assert task_of(row).attributes == {"source": "x"}
    (note,) = [each for each in read_one(row).notes if each.code == "rating_not_number"]
    assert note.place == "completions[0].annotations.honesty.Rating"


@pytest.mark.parametrize(
    ("winner", "verdicts"),
    [
        ("model_a", ["chosen", "rejected"]),
        ("model_b", ["rejected", "chosen"]),
        ("tie", ["", ""]),
        ("tie (bothbad)", ["rejected", "rejected"]),
        ("someone", ["", ""]),
    ],
)
def test_a_battle_becomes_candidates_with_models_and_verdicts(
    winner: str, verdicts: list[str]
) -> None:
    row = {
        "question_id": "q1",
        "model_a": "m-1",
        "model_b": "m-2",
        "winner": winner,
        "conversation_a": [user("Q"), answer("A"), user("R"), answer("C")],
        "conversation_b": [user("Q"), answer("B"), user("R"), answer("D")],
        "turn": 2,
    }
    read = read_one(row)
    assert (read.format, read.roles) == ("arena_battle", "u")
    task = task_of(row)
    assert [each.verdict for each in task.candidates] == verdicts
    assert [each.model for each in task.candidates] == ["m-1", "m-2"]
    assert task.candidates[0].detail == {"battle": "a", "winner": winner}
    assert task.attributes == {"question_id": "q1", "turn": 2}
    assert ("unknown_winner" in codes(row)) == (winner == "someone")


def test_a_table_of_battles_holds_its_turns_as_json_text() -> None:
    row = {
        "id": 30192,
        "model_a": "m-1",
        "model_b": "m-2",
        "prompt": '["Q","R"]',
        "response_a": '["A","C"]',
        "response_b": '["A","D"]',
        "winner_model_a": 0,
        "winner_model_b": 1,
        "winner_tie": 0,
    }
    read = read_one(row)
    assert (read.format, read.roles) == ("arena_battle", "uau")
    assert sides(row) == {"rejected": [("assistant", "C")], "chosen": [("assistant", "D")]}
    assert task_of(row).attributes == {}


def test_half_a_character_inside_a_table_of_battles_is_replaced_and_noted() -> None:
    row = {"model_a": "m", "prompt": '["Q"]', "response_a": '["\\ud83d"]', "response_b": '["B"]'}
    assert said(task_of(row).candidates[0].messages) == [("assistant", "\ufffd")]
    assert "lone_surrogate" in codes(row)


@pytest.mark.parametrize("name", ["prompt", "prompt_messages", "messages"])
def test_texts_may_answer_a_list_of_messages(name: str) -> None:
    turns = [{"role": "system", "content": "S"}, {"role": "user", "content": "Q"}]
    row = {name: turns, "chosen": "A", "rejected": "B"}
    assert read_one(row).format == "preference_messages"
    assert said(task_of(row).messages) == [("system", "S"), ("user", "Q")]
    assert sides(row) == {"chosen": [("assistant", "A")], "rejected": [("assistant", "B")]}


def test_a_battle_with_one_conversation_keeps_it() -> None:
    turns = [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]
    row = {"model_a": "x", "winner": "model_a", "conversation_a": turns, "conversation_b": []}
    assert said(task_of(row).messages) == [("user", "Q")]
    assert sides(row) == {"chosen": [("assistant", "A")]}
    assert "missing_side" in codes(row)


@pytest.mark.parametrize(
    ("label", "verdict"),
    [(1, "chosen"), (0, "rejected"), (1.0, "chosen"), ("true", "chosen"), ("False", "rejected")],
)
@pytest.mark.parametrize(
    "row", [{"prompt": "Q", "completion": "A"}, {"messages": [user("Q"), answer("A")], "id": "k"}]
)
def test_a_label_written_as_a_number_or_text_is_a_truth_value(
    row: dict[str, Any], label: Any, verdict: str
) -> None:
    labelled = {**row, "label": label}
    assert read_one(labelled).format == "kto"
    assert sides(labelled) == {verdict: [("assistant", "A")]}
    assert "content_coerced" in codes(labelled)


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": "Q", "completion": "A", "label": 2},
        {"prompt": "Q", "completion": "A", "label": "spam"},
        {"prompt": "Q", "completion": "A", "label": 1, "topic": "x"},
    ],
)
def test_a_label_that_may_be_a_class_is_an_attribute(row: dict[str, Any]) -> None:
    assert read_one(row).format == "prompt_completion"
    assert task_of(row).attributes["label"] == row["label"]


def test_answers_that_are_numbers_become_texts() -> None:
    row = {"prompt": "2+2", "chosen": 4, "rejected": 5.5}
    assert read_one(row).format == "preference_text"
    assert sides(row) == {"chosen": [("assistant", "4")], "rejected": [("assistant", "5.5")]}
    assert "content_coerced" in codes(row)


def test_numbers_that_point_into_a_list_are_no_answers() -> None:
    row = {"prompt": "Q", "responses": ["a", "b"], "chosen": 0, "rejected": 1}
    assert read_one(row).format != "preference_text"


RANKED = [{"answer": "A", "model": "m", "rank": 1.0}, {"answer": "B", "model": "n", "rank": 2.0}]


@pytest.mark.parametrize("prompt", ["\n\nHuman: Q\n\nAssistant: ", "Q", [user("Q")]])
def test_ranked_answers_are_candidates_with_what_is_known_of_them(prompt: Any) -> None:
    row = {"prompt": prompt, "answers": RANKED, "turns": 1, "good_natured": True}
    assert read_one(row).format == "nectar"
    task = task_of(row)
    assert said(task.messages) == ASKED
    found = [
        (each.verdict, each.model, each.detail, each.messages[0].text) for each in task.candidates
    ]
    assert found == [("", "m", {"rank": 1.0}, "A"), ("", "n", {"rank": 2.0}, "B")]
    assert task.attributes == {"turns": 1, "good_natured": True}
    assert "empty_turn" not in codes(row)
