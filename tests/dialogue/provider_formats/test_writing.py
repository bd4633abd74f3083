"""Rules of writing that the handed cases do not pin down alone (C4 to C7, O6, A2 to A8, G4, G5)."""

import re
from typing import Any

import pytest

from apps.dialogue.errors import ConversionRefused, DialogueError
from apps.dialogue.provider_formats import FORMATS, convert

IMAGE = {"type": "image", "data": "UE5H", "mimeType": "image/png"}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call(call_id: str, name: str = "f") -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": name, "input": {}}


def result(call_id: str, *blocks: dict[str, Any], error: bool = False) -> dict[str, Any]:
    return {
        "type": "tool_result", "tool_call_id": call_id, "blocks": list(blocks), "is_error": error
    }  # fmt: skip


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "blocks": list(blocks)}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "blocks": list(blocks)}


def system(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "system", "blocks": list(blocks)}


def test_results_gather_in_the_first_user_message_after_the_call() -> None:
    messages = [
        assistant(call("a"), call("b")),
        user(text("first")),
        user(result("b", text("B")), text("second")),
        user(result("a", text("A"))),
        user(text("third")),
    ]
    roles = [(each["role"], each["content"]) for each in convert(messages, "openai")[1:]]
    assert roles == [
        ("tool", "B"), ("tool", "A"), ("user", "first"), ("user", "second"), ("user", "third")
    ]  # fmt: skip
    contents = [each["content"] for each in convert(messages, "anthropic")["messages"][1:]]
    assert [[part["type"] for part in content] for content in contents] == [
        ["tool_result", "tool_result", "text"], ["text"], ["text"]
    ]  # fmt: skip


def test_a_user_message_that_gave_its_results_away_may_have_nothing_left_to_say() -> None:
    messages = [assistant(call("a"), call("b")), user(result("a")), user(result("b"), text(""))]
    assert len(convert(messages, "anthropic")["messages"]) == 2
    assert len(convert(messages, "google")["contents"]) == 2


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_message_without_content_is_refused_by_every_format(name: str) -> None:
    for role in ("system", "user", "assistant"):
        with pytest.raises(ConversionRefused, match=r"^messages\[1\]: has no content"):
            convert([user(text("x")), {"role": role, "blocks": []}], name)


def test_a_call_and_its_result_get_the_same_new_id_and_legal_ids_keep_theirs() -> None:
    messages = [
        assistant(call("a.b"), call("a_b"), call("é")),
        user(result("a_b"), result("é"), result("a.b")),
        assistant(call("a.b")),
        user(result("a.b")),
    ]
    written = convert(messages, "anthropic")["messages"]
    first = [part["id"] for part in written[0]["content"]]
    answers = [part["tool_use_id"] for part in written[1]["content"]]
    again = written[2]["content"][0]["id"]
    assert first[1] == "a_b"
    assert answers == [first[1], first[2], first[0]]
    assert written[3]["content"][0]["tool_use_id"] == again
    assert len({*first, again}) == 4
    assert all(re.fullmatch("[a-zA-Z0-9_-]+", each) for each in [*first, again])


def test_later_turns_do_not_change_the_ids_of_earlier_ones() -> None:
    messages = [assistant(call("a.b")), user(result("a.b"))]
    longer = [*messages, assistant(call("a_b")), user(result("a_b"))]
    for name in ("anthropic", "openai"):
        short, long = convert(messages, name), convert(longer, name)
        if name == "anthropic":
            short, long = short["messages"], long["messages"]
        assert long[: len(short)] == short


@pytest.mark.parametrize("name", ["openai", "openrouter", "responses"])
def test_long_ids_are_cut_to_64_characters_and_stay_apart(name: str) -> None:
    ids = ["x" * 64, "x" * 65, "x" * 64 + "y", "z" * 300]
    messages = [assistant(*map(call, ids)), user(*map(result, ids)), assistant(call(ids[1]))]
    written = convert(messages, name)
    if name == "responses":
        calls = [each["call_id"] for each in written if each["type"] == "function_call"]
        answers = [each["call_id"] for each in written if each["type"] == "function_call_output"]
    else:
        calls = [each["id"] for m in written for each in m.get("tool_calls", ())]
        answers = [each["tool_call_id"] for each in written if each["role"] == "tool"]
    assert calls[:4] == answers
    assert calls[0] == ids[0]
    assert calls[4] == calls[1]
    assert len(set(answers)) == 4
    assert all(len(each) <= 64 for each in calls)


@pytest.mark.parametrize(
    ("name", "longest"),
    [("openai", 64), ("openrouter", 64), ("responses", 64), ("anthropic", 128)],
)
def test_tool_names_are_taken_or_refused_never_rewritten(name: str, longest: int) -> None:
    assert "f" * longest in repr(convert([assistant(call("a", "f" * longest))], name))
    for bad in ("f" * (longest + 1), "two words", "naïve", "f\n"):
        with pytest.raises(ConversionRefused) as refused:
            convert([user(text("x")), assistant(call("a", bad))], name)
        assert refused.value.place.startswith("messages[1]")
        assert repr(bad) in str(refused.value)


def test_google_takes_any_tool_name() -> None:
    written = convert([assistant(call("a", "two words"))], "google")
    assert written["contents"][0]["parts"][0]["function_call"]["name"] == "two words"


@pytest.mark.parametrize("name", ["openai", "openrouter"])
def test_a_failed_call_says_so_in_its_text(name: str) -> None:
    messages = [assistant(call("a"), call("b")), user(result("a", error=True),
                result("b", text("x"), text("y"), error=True))]  # fmt: skip
    contents = [each["content"] for each in convert(messages, name)[1:]]
    assert contents == ["[tool_result (error)]", "[tool_result (error)]\nx\ny"]


def test_system_texts_in_front_are_joined_and_empty_ones_left_out() -> None:
    messages = [system(text("a"), text("")), system(text(" ")), user(text("x"))]
    assert convert(messages, "anthropic")["system"] == "a\n\n "
    assert convert(messages, "google")["system_instruction"] == "a\n\n "
    assert convert([system(text(""))], "anthropic") == {"system": None, "messages": []}


def test_text_after_a_call_moves_before_it_unless_reasoning_follows() -> None:
    thought = {"type": "reasoning", "text": "hm", "signature": "s"}
    moved = assistant(thought, call("a"), IMAGE, call("b"), text("after"))
    kept = assistant(text("x"), call("a"), text("y"), thought, call("b"))

    def kinds(message: dict[str, Any]) -> list[str]:
        content = convert([message], "anthropic")["messages"][0]["content"]
        return [part["type"] for part in content]

    assert kinds(moved) == ["thinking", "image", "text", "tool_use", "tool_use"]
    assert kinds(kept) == ["text", "tool_use", "text", "thinking", "tool_use"]


def anthropic_content(*messages: dict[str, Any]) -> list[list[dict[str, Any]]]:
    return [each["content"] for each in convert(list(messages), "anthropic")["messages"]]


def test_blank_texts_go_only_where_nothing_is_visible() -> None:
    thought = {"type": "reasoning", "text": "hm", "signature": "s"}
    reply = user(text("ok"))
    assert anthropic_content(assistant(text(" "), text("Hi")), reply)[0] == [text(" "), text("Hi")]
    kinds = [part["type"] for part in anthropic_content(assistant(thought, text("\n")), reply)[0]]
    assert kinds == ["thinking"]
    assert anthropic_content(user(IMAGE, text(" ")))[0][0]["type"] == "image"
    assert len(anthropic_content(user(IMAGE, text(" ")))[0]) == 1


def test_inside_a_result_only_the_empty_text_goes() -> None:
    answer = user(result("a", text(""), text(" "), IMAGE))
    content = anthropic_content(assistant(call("a")), answer)[1][0]["content"]
    assert [part["type"] for part in content] == ["text", "image"]
    assert content[0]["text"] == " "


def test_the_end_of_a_last_assistant_message_is_trimmed_and_no_other() -> None:
    assert anthropic_content(assistant(text("A \n")))[0] == [text("A")]
    assert anthropic_content(assistant(text("A ")), user(text("B ")))[0] == [text("A ")]
    assert anthropic_content(user(text("B ")))[0] == [text("B ")]
    assert anthropic_content(assistant(text("A "), text(" \n")))[0] == [text("A")]
    with_call = anthropic_content(assistant(text("A "), call("a")))[0]
    assert with_call[0] == text("A ")


def test_a_signature_is_written_only_where_there_is_one() -> None:
    sealed = {"type": "reasoning", "text": "", "signature": "sig"}
    bare = {"type": "reasoning", "text": "t", "signature": ""}
    assert anthropic_content(assistant(sealed, bare))[0] == [
        {"type": "thinking", "thinking": "", "signature": "sig"},
        {"type": "thinking", "thinking": "t"},
    ]


@pytest.mark.parametrize(
    ("given", "written"),
    [("image/jpg", "image/jpeg"), ("IMAGE/JPG", "image/jpeg"), ("image/PNG", "image/png")],
)
def test_media_types_are_written_as_anthropic_knows_them(given: str, written: str) -> None:
    image = {**IMAGE, "mimeType": given}
    messages = [user(image), assistant(call("a")), user(result("a", image))]
    contents = anthropic_content(*messages)
    assert contents[0][0]["source"]["media_type"] == written
    assert contents[2][0]["content"][0]["source"]["media_type"] == written


@pytest.mark.parametrize("place", ["message", "result"])
def test_other_media_types_are_refused_by_anthropic(place: str) -> None:
    image = {**IMAGE, "mimeType": "image/tiff"}
    messages = [user(image)]
    if place == "result":
        messages = [assistant(call("a")), user(result("a", image))]
    with pytest.raises(ConversionRefused, match="image/tiff") as refused:
        convert(messages, "anthropic")
    assert refused.value.place == f"messages[{len(messages) - 1}].blocks[0]"


@pytest.mark.parametrize(
    ("detail", "shown"), [({"redacted_data": 5}, ""), ({"redacted_data": "sealed"}, "and text")]
)
def test_redacted_reasoning_that_would_lose_something_is_refused(
    detail: dict[str, Any], shown: str
) -> None:
    block = {"type": "reasoning", "text": shown, "detail": detail}
    with pytest.raises(ConversionRefused, match="redacted_data"):
        convert([assistant(block)], "anthropic")


def test_google_gets_results_in_the_order_of_the_calls_whatever_message_held_them() -> None:
    messages = [
        assistant(call("a", "x"), call("b", "y"), call("c", "x")),
        user(text("note"), result("c", text("C"))),
        user(result("b", text("B"), error=True), result("a")),
    ]
    parts = convert(messages, "google")["contents"][1]["parts"]
    assert parts == [
        {"function_response": {"name": "x", "response": {"output": ""}}},
        {"function_response": {"name": "y", "response": {"error": "B"}}},
        {"function_response": {"name": "x", "response": {"output": "C"}}},
        {"text": "note"},
    ]


def test_an_unknown_format_is_named_with_those_there_are() -> None:
    for name in ("mistral", "OpenAI", ""):
        with pytest.raises(ConversionRefused, match=f"{name!r}; there are openai, openrouter"):
            convert([], name)


def test_without_a_format_the_canonical_wire_comes_back_drafts_included() -> None:
    messages = [{"role": "user", "blocks": []}, user(result("nobody"))]
    assert [each["role"] for each in convert(messages, None)] == ["user", "user"]


@pytest.mark.parametrize("name", [None, *sorted(FORMATS)])
def test_what_is_no_conversation_is_refused_before_it_is_converted(name: str | None) -> None:
    for wrong in ("text", {"role": "user"}, [5], [{"role": "user", "content": "x"}]):
        with pytest.raises(DialogueError, match=r"^messages"):
            convert(wrong, name)  # type: ignore[arg-type]
