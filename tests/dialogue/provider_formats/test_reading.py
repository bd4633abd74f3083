"""Rules of reading that the handed cases do not pin down alone (I1 to I7, N1, N2, P5)."""

import copy
import json
from typing import Any

import pytest

from apps.dialogue.errors import DialogueError, ImportRefused
from apps.dialogue.message import Message, conversation_to_wire
from apps.dialogue.provider_formats import (
    FORMATS,
    convert,
    import_anthropic,
    import_google,
    import_openai,
)

GO = {"role": "user", "content": "go"}


def tool_call(arguments: Any, **more: Any) -> dict[str, Any]:
    function = {"name": "f", "arguments": arguments}
    return {"id": "c1", "type": "function", "function": function, **more}


def calling(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def types_of(message: Message) -> list[str]:
    return [block.type for block in message.blocks]


def only(messages: tuple[Message, ...]) -> dict[str, Any]:
    (wire,) = conversation_to_wire(messages)
    return wire


# ---------------------------------------------------------------------- Chat Completions
@pytest.mark.parametrize("arguments", ["", "  \n", None, "{}", {}])
def test_no_arguments_are_an_empty_object(arguments: Any) -> None:
    (message,) = import_openai([calling(tool_call(arguments))])
    assert message.blocks[0].to_wire()["input"] == {}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ('{"x": ', "JSON"),
        ('{"x": NaN}', "JSON"),
        ('{"x": Infinity}', "JSON"),
        ("{}{}", "JSON"),
        ("{'x': 1}", "JSON"),
        ('"{\\"x\\": 1}"', "object"),
        ("[1]", "object"),
        ("null", "object"),
        (5, "JSON text, not a number"),
        (["x"], "JSON text, not a list"),
        ('{"x": 1, "x": 2}', "written twice"),
        ("[" * 3000 + "]" * 3000, "nested too deeply"),
        ('{"x": ' + "9" * 5000 + "}", "JSON"),
        ('{"x": "\\ud83d"}', "surrogate"),
        ('{"x": "\\u0000"}', "NUL"),
        ('{"x": 1e999}', "inf"),
    ],
)
def test_arguments_that_are_no_object_are_refused_with_the_call(arguments: Any, why: str) -> None:
    with pytest.raises(DialogueError, match=why) as refused:
        import_openai([GO, calling(tool_call(arguments))])
    assert refused.value.place.startswith("messages[1].tool_calls[0]")
    assert "\n" not in str(refused.value)


def test_numbers_and_key_order_of_arguments_survive() -> None:
    arguments = '{"z": 12345678901234567890, "a": 1.0, "m": [true, null]}'
    (message,) = import_openai([calling(tool_call(arguments))])
    assert json.dumps(message.blocks[0].to_wire()["input"]) == arguments


@pytest.mark.parametrize(
    ("content", "more", "kinds"),
    [
        ("", {"tool_calls": [tool_call("{}")]}, ["tool_call"]),
        ("", {"reasoning_content": "r"}, ["reasoning"]),
        ("", {}, ["text"]),
        (None, {"tool_calls": [tool_call("{}")]}, ["tool_call"]),
        ([], {"reasoning": "r"}, ["reasoning"]),
        (None, {"refusal": "No."}, ["text"]),
        ("x", {"tool_calls": [], "function_call": None}, ["text"]),
        ("x", {"reasoning": "r", "reasoning_content": "r"}, ["reasoning", "text"]),
        ("x", {"reasoning": "r", "reasoning_content": "s"}, ["reasoning", "reasoning", "text"]),
        ("<think>a</think>b", {}, ["text"]),
    ],
)
def test_what_is_there_becomes_blocks_and_what_is_absent_none(
    content: Any, more: dict[str, Any], kinds: list[str]
) -> None:
    (message,) = import_openai([{"role": "assistant", "content": content, **more}])
    assert types_of(message) == kinds


def test_consecutive_tool_messages_are_one_user_message_and_the_next_user_its_own() -> None:
    tools = [{"role": "tool", "tool_call_id": each, "content": each} for each in ("a", "b")]
    read = import_openai([*tools, GO, *tools])
    assert [types_of(message) for message in read] == [
        ["tool_result"] * 2,
        ["text"],
        ["tool_result"] * 2,
    ]


def test_a_tool_message_may_be_empty_or_hold_an_image() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}}
    contents = [None, [], "", [{"type": "text", "text": "x"}, image]]
    wires = [{"role": "tool", "tool_call_id": "a", "content": content} for content in contents]
    blocks = only(import_openai(wires))["blocks"]
    assert [[each["type"] for each in block["blocks"]] for block in blocks] == [
        [], [], ["text"], ["text", "image"]
    ]  # fmt: skip


def test_names_roles_and_unknown_keys_stay_in_detail_and_transport_keys_do_not() -> None:
    wire = {
        "role": "developer", "content": "x", "name": "ann", "weight": 0, "annotations": [],
        "cache_control": {"type": "ephemeral"}, "audio": None,
    }  # fmt: skip
    assert only(import_openai([wire]))["detail"] == {
        "name": "ann",
        "weight": 0,
        "role": "developer",
    }
    part = {"type": "text", "text": "x", "cache_control": {}, "train": False}
    blocks = only(import_openai([{"role": "user", "content": [part]}]))["blocks"]
    assert blocks[0]["detail"] == {"train": False}


def test_details_of_calls_and_results_are_kept() -> None:
    call = tool_call("{}", index=0, extra_content={"google": {"thought_signature": "s"}})
    tool = {"role": "tool", "tool_call_id": "c1", "name": "f", "content": "x"}
    asked, answered = import_openai([calling(call), tool])
    assert asked.blocks[0].detail == {"extra_content": {"google": {"thought_signature": "s"}}}
    assert answered.blocks[0].detail == {"name": "f"}


def test_refusals_are_marked_text_after_the_content() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}]
    wire = {"role": "assistant", "content": parts, "refusal": "c"}
    blocks = only(import_openai([wire]))["blocks"]
    assert [(each["text"], each["detail"]) for each in blocks] == [
        ("a", None), ("b", {"refusal": True}), ("c", {"refusal": True})
    ]  # fmt: skip


def test_functions_of_old_get_ids_that_nobody_else_has() -> None:
    def asks(name: str) -> dict[str, Any]:
        return {"role": "assistant", "function_call": {"name": name, "arguments": "{}"}}

    def answers(name: str | None) -> dict[str, Any]:
        return {"role": "function", "name": name, "content": "x"}

    taken = calling({**tool_call("{}"), "id": "call_0"})
    tool = {"role": "tool", "tool_call_id": "call_0", "content": "x"}
    read = import_openai([asks("f"), answers("f"), taken, tool, asks("g"), answers(None)])
    ids = [block.to_wire()["id"] for m in read for block in m.blocks if block.type == "tool_call"]
    assert len(set(ids)) == 3
    assert convert(read, "openai")[1]["tool_call_id"] == ids[0]
    for messages in ([answers("f")], [asks("f"), answers("g")], [asks("f"), answers("f")] * 2):
        wires = messages if len(messages) < 4 else [*messages[:2], messages[1]]
        with pytest.raises(ImportRefused, match="answers no function_call"):
            import_openai(wires)


@pytest.mark.parametrize(
    ("wire", "named"),
    [
        ({"role": "critic", "content": "x"}, "critic"),
        ({"role": None, "content": "x"}, "None"),
        ({"content": "x"}, "role"),
        ({"role": ["user"], "content": "x"}, "user"),
        ({"role": "user", "content": None}, "no content"),
        ({"role": "user"}, "no content"),
        ({"role": "assistant", "content": None}, "no content"),
        ({"role": "user", "content": 42}, "a text or a list of parts, not a number"),
        ({"role": "user", "content": {"text": "x"}}, "not an object"),
        ({"role": "user", "content": ["bare"]}, "must be an object, not a text"),
        ({"role": "user", "content": [{"type": "file", "file": {"file_id": "x"}}]}, "file"),
        ({"role": "user", "content": [{"type": "text"}]}, "text"),
        ({"role": "user", "content": [{"text": "x"}]}, "None"),
        ({"role": "user", "content": "a\x00"}, "NUL"),
        ({"role": "assistant", "content": "x", "audio": {"id": "a"}}, "audio"),
        ({"role": "user", "content": "x", "tool_calls": [tool_call("{}")]}, "tool_call"),
        (calling({"id": "c", "type": "custom", "custom": {"name": "x", "input": ""}}), "custom"),
        (calling({**tool_call("{}"), "id": ""}), "id"),
        (calling({**tool_call("{}"), "id": None}), "id"),
        (calling({"id": "c", "type": "function"}), "function"),
        ({"role": "assistant", "tool_calls": {"id": "c"}}, "tool_calls"),
        ({"role": "tool", "tool_call_id": "", "content": "x"}, "tool_call_id"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": None}]}, "null"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(wire: dict[str, Any], named: str) -> None:
    with pytest.raises(DialogueError) as refused:
        import_openai([GO, wire])
    assert "messages[1]" in str(refused.value)
    assert named in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://img.example/cat.png",
        "file:///cat.png",
        "data:image/svg+xml,%3Csvg/%3E",
        "data:;base64,UE5H",
        "",
        None,
        5,
    ],
)
def test_images_that_are_not_in_the_file_are_refused_not_fetched(url: Any) -> None:
    for given in ({"url": url}, url):
        part = {"type": "image_url", "image_url": given}
        with pytest.raises(DialogueError, match=r"image|null|must be") as refused:
            import_openai([{"role": "user", "content": [part]}])
        assert refused.value.place.startswith("messages[0].content[0]")


@pytest.mark.parametrize("messages", [None, "x", {"messages": []}, 5, [None], ["x"]])
def test_what_is_no_list_of_messages_is_refused(messages: Any) -> None:
    with pytest.raises(ImportRefused, match=r"^messages"):
        import_openai(messages)


# ---------------------------------------------------------------------- Anthropic
def anthropic(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"messages": list(messages), **more}


@pytest.mark.parametrize("system", [None, "", []])
def test_no_system_is_no_message(system: Any) -> None:
    assert len(import_anthropic(anthropic(GO, system=system))) == 1


def test_a_system_message_in_the_middle_stays_there() -> None:
    read = import_anthropic(anthropic(GO, {"role": "system", "content": "Now French."}, GO))
    assert [message.role for message in read] == ["user", "system", "user"]


def test_results_may_come_without_content_and_keep_their_place_beside_text() -> None:
    parts = [
        {"type": "text", "text": "before"},
        {"type": "tool_result", "tool_use_id": "a"},
        {"type": "tool_result", "tool_use_id": "b", "content": None, "is_error": None},
        {"type": "tool_result", "tool_use_id": "c", "content": [], "is_error": True},
    ]
    blocks = only(import_anthropic(anthropic({"role": "user", "content": parts})))["blocks"]
    assert [each["type"] for each in blocks] == ["text", *["tool_result"] * 3]
    assert [each["blocks"] for each in blocks[1:]] == [[], [], []]
    assert [each["is_error"] for each in blocks[1:]] == [False, False, True]


def test_citations_are_kept_and_cache_marks_are_not() -> None:
    part = {"type": "text", "text": "x", "citations": [{"n": 1}], "cache_control": {"type": "e"}}
    blocks = only(import_anthropic(anthropic({"role": "assistant", "content": [part]})))["blocks"]
    assert blocks[0]["detail"] == {"citations": [{"n": 1}]}


@pytest.mark.parametrize(
    ("part", "named"),
    [
        ({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, "server_tool"),
        ({"type": "web_search_tool_result", "tool_use_id": "s", "content": []}, "web_search"),
        ({"type": "image", "source": {"type": "file", "file_id": "f"}}, "image"),
        ({"type": "image"}, "source"),
        ({"type": ["text"]}, "text"),
        ({"type": "redacted_thinking"}, "data"),
        ({"type": "tool_use", "id": "a", "name": "f", "input": "{}"}, "input"),
        ({"type": "tool_use", "id": "a", "name": "f"}, "input"),
        ({"type": "thinking", "signature": "s"}, "text"),
        (
            {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "document"}]},
            "document",
        ),
        ({"type": "tool_result", "tool_use_id": "a", "content": 5}, "not a number"),
        ({"type": "tool_result", "tool_use_id": "a"}, "assistant"),
    ],
)
def test_what_anthropic_content_cannot_be_read_is_named(part: dict[str, Any], named: str) -> None:
    with pytest.raises(DialogueError) as refused:
        import_anthropic(anthropic(GO, {"role": "assistant", "content": [part]}))
    assert "messages[1]" in str(refused.value)
    assert named in str(refused.value)


@pytest.mark.parametrize("payload", [None, [], "x", {}, {"system": "x"}, {"messages": "x"}])
def test_what_is_no_anthropic_payload_is_refused(payload: Any) -> None:
    with pytest.raises(ImportRefused):
        import_anthropic(payload)


@pytest.mark.parametrize("content", [None, []])
def test_an_anthropic_message_without_content_is_refused(content: Any) -> None:
    with pytest.raises(ImportRefused, match=r"^messages\[0\]"):
        import_anthropic(anthropic({"role": "user", "content": content}))


# ---------------------------------------------------------------------- Google
def test_both_spellings_are_read_and_calls_get_stable_ids() -> None:
    payload = {
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [
                {"text": "hm", "thought": True},
                {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "s"},
                {"function_call": {"name": "f"}},
                {"function_call": {"id": "call_2", "name": "g", "args": {}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "g", "id": "call_2", "response": {"error": "no"}}},
                {"function_response": {"name": "f", "response": {"output": "one"}}},
                {"function_response": {"name": "f", "response": {"temp": 4}}},
            ]},
        ],
    }  # fmt: skip
    kept = copy.deepcopy(payload)
    system, user, asked, answered = import_google(payload)
    assert payload == kept
    assert (system.text, user.text) == ("Be kind.", "go")
    assert types_of(asked) == ["reasoning", *["tool_call"] * 3]
    assert asked.blocks[1].detail == {"thoughtSignature": "s"}
    ids = [block.to_wire()["id"] for block in asked.blocks[1:]]
    assert len(set(ids)) == 3
    results = [block.to_wire() for block in answered.blocks]
    assert [each["tool_call_id"] for each in results] == ["call_2", ids[0], ids[1]]
    assert [each["is_error"] for each in results] == [True, False, False]
    assert results[2]["blocks"][0]["text"] == '{"temp": 4}'
    assert import_google(payload) == (system, user, asked, answered)


@pytest.mark.parametrize(
    "content",
    [
        {"role": "robot", "parts": [{"text": "x"}]},
        {"role": "user", "parts": []},
        {"role": "user", "parts": [{"file_data": {"file_uri": "gs://x"}}]},
        {"role": "user", "parts": [{"function_response": {"name": "f", "response": {}}}]},
        {"role": "user", "parts": [{}]},
        {"role": "model", "parts": [{"text": "x", "function_call": {"name": "f"}}]},
    ],
)
def test_what_google_content_cannot_be_read_is_refused(content: dict[str, Any]) -> None:
    with pytest.raises(DialogueError, match=r"^contents\[0\]"):
        import_google({"contents": [content]})


# ---------------------------------------------------------------------- all
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_reading_nothing_gives_nothing(name: str) -> None:
    assert FORMATS[name].read(convert([], name)) == ()
