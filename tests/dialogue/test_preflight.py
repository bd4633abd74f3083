"""What a provider would refuse is known before anything is sent, and all of it."""

import base64
import copy
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.dialogue.errors import ConversionRefused, DialogueError
from apps.dialogue.message import Message, conversation_to_wire
from apps.dialogue.preflight import APIS, CAUTIONS, TARGETS, Problem, preflight
from apps.dialogue.provider_formats import FORMATS, convert
from tests.dialogue.conversations import (
    careless_conversations,
    conversations,
    plain_conversations,
)
from tests.dialogue.provider_formats.test_nonsense import nonsense
from tests.kits.test_conversion import CASES

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n and the rest").decode()
JPEG = base64.b64encode(b"\xff\xd8\xff and the rest").decode()
some = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
formats = st.sampled_from(sorted(FORMATS))


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": said, **more}


def thought(said: str = "hm", **more: Any) -> dict[str, Any]:
    return {"type": "reasoning", "text": said, **more}


def picture(kind: str = "image/png", data: str = PNG) -> dict[str, Any]:
    return {"type": "image", "data": data, "mimeType": kind}


def call(call_id: str = "c1", name: str = "find") -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": name, "input": {}}


def result(call_id: str = "c1", *blocks: Any, error: bool = False) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_call_id": call_id,
        "blocks": list(blocks),
        "is_error": error,
    }


def says(role: str, *blocks: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "blocks": list(blocks), **more}


def user(*blocks: Any) -> dict[str, Any]:
    return says("user", *(blocks or [text("go")]))


def assistant(*blocks: Any) -> dict[str, Any]:
    return says("assistant", *(blocks or [text("done")]))


def found(messages: list[dict[str, Any]], target: str, severity: str) -> list[tuple[str, str]]:
    return [
        (each.place, each.message)
        for each in preflight(messages, target)
        if each.severity == severity
    ]


def errors_of(problems: list[Problem]) -> list[Problem]:
    return [each for each in problems if each.severity == "error"]


def refusal_of(messages: Any, name: str) -> DialogueError | None:
    try:
        convert(messages, name)
    except DialogueError as error:
        return error
    return None


# ---- what holds always ----------------------------------------------------------------------


@some
@given(conversations() | careless_conversations(), formats)
def test_a_conversion_is_refused_exactly_where_there_is_an_error(
    messages: tuple[Message, ...], name: str
) -> None:
    errors = errors_of(preflight(messages, name))
    refusal = refusal_of(messages, name)
    if refusal is None:
        assert errors == []
    else:
        assert Problem(refusal.place, refusal.message, "error") in errors


@some
@given(nonsense, formats)
def test_that_holds_for_anything_that_may_be_sent_to_us(value: Any, name: str) -> None:
    for given_value in (value, [value], [{"role": "user", "blocks": [value]}]):
        assert bool(errors_of(preflight(given_value, name))) == (
            refusal_of(given_value, name) is not None
        )


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["kind"] == "convert" and case["format"] in FORMATS],
    ids=lambda case: case["id"],
)  # fmt: skip
def test_a_handed_case_has_an_error_exactly_where_it_is_refused(case: dict[str, Any]) -> None:
    errors = errors_of(preflight(case["input"], case["format"]))
    assert bool(errors) == bool(case.get("error"))
    said = "\n".join(f"{each.place}: {each.message}" for each in errors)
    assert all(word in said for word in case.get("error_contains", []))


@some
@given(conversations() | careless_conversations(), st.sampled_from(TARGETS))
def test_every_problem_names_an_existing_place_once_in_one_line(
    messages: tuple[Message, ...], target: str
) -> None:
    problems = preflight(messages, target)
    assert len(set(problems)) == len(problems)
    for problem in problems:
        assert "\n" not in problem.message
        steps = [int(step) for step in re.findall(r"\[(\d+)\]", problem.place)]
        held: Any = {"blocks": [message.to_wire() for message in messages]}
        assert problem.place == "messages" or steps
        for step in steps:
            held = held["blocks"][step]


@some
@given(conversations() | careless_conversations(), formats)
def test_wire_and_models_give_the_same_and_nothing_is_changed(
    messages: tuple[Message, ...], name: str
) -> None:
    wire = conversation_to_wire(messages)
    before = copy.deepcopy(wire)
    assert preflight(wire, name) == preflight(messages, name) == preflight(wire, name)
    assert wire == before


@some
@given(plain_conversations(reasoning=False), st.sampled_from(["openai", "openrouter", "responses"]))
def test_a_plain_conversation_has_no_problem(messages: tuple[Message, ...], name: str) -> None:
    assert preflight(messages, name) == []


def test_every_format_and_every_api_is_a_target() -> None:
    assert set(CAUTIONS) == set(FORMATS)
    assert set(TARGETS) == {*FORMATS, *APIS}
    assert preflight([user()], "chat_completions") == []
    with pytest.raises(ConversionRefused, match=r"'mistral'; there are openai, .*chat_completions"):
        preflight([user()], "mistral")


# ---- all refusals, not the first ------------------------------------------------------------


def test_all_of_what_a_format_refuses_is_told() -> None:
    messages = [
        says("system", picture()),
        assistant(picture(), call("c1", "two words"), call("c2", "three sad words")),
        user(result("c1", picture()), result("zz"), result("c2")),
        says("user"),
        assistant(thought("", detail={"redacted_data": "sealed"}), call("late")),
        user(),
    ]
    places = [place for place, _ in found(messages, "openai", "error")]
    assert places == [
        "messages[0].blocks[0]",
        "messages[1].blocks[0]",
        "messages[1].blocks[1]",
        "messages[1].blocks[2]",
        "messages[2].blocks[0]",
        "messages[2].blocks[1]",
        "messages[3]",
        "messages[4].blocks[0]",
        "messages[4].blocks[1]",
    ]
    assert [place for place, _ in found(messages, "google", "error")] == [
        "messages[0].blocks[0]",
        "messages[2].blocks[0]",
        "messages[2].blocks[1]",
        "messages[3]",
        "messages[4].blocks[0]",
        "messages[4].blocks[1]",
    ]


@pytest.mark.parametrize("target", sorted(FORMATS))
def test_a_message_without_content_is_told_once(target: str) -> None:
    assert found([user(), says("assistant"), user()], target, "error") == [
        ("messages[1]", "has no content")
    ]


def test_what_is_no_conversation_is_an_error_with_its_place() -> None:
    (problem,) = preflight([{"role": "user", "blocks": [{"type": "text", "text": 5}]}], "google")
    assert problem == Problem("messages[0].blocks[0].text", "must be a text, not a number", "error")


# ---- what an API refuses though its format carries it ---------------------------------------


@pytest.mark.parametrize("target", sorted(FORMATS))
def test_calls_left_open_at_the_end_are_refused_by_every_api(target: str) -> None:
    messages = [user(), assistant(call("a"), call("b")), user(result("a"), result("b")),
                assistant(call("c"), call("d"))]  # fmt: skip
    assert found(messages, target, "error") == []
    open_calls = [place for place, said in found(messages, target, "warning") if "result" in said]
    assert open_calls == ["messages[3].blocks[0]", "messages[3].blocks[1]"]


@pytest.mark.parametrize(
    ("target", "long_id"), [("openai", "y" * 65), ("responses", "y" * 65), ("anthropic", "é 4")]
)
def test_ids_that_are_rewritten_are_told_with_what_is_sent(target: str, long_id: str) -> None:
    messages = [user(), assistant(call(long_id)), user(result(long_id)), assistant(), user()]
    ((place, said),) = found(messages, target, "warning")
    assert place == "messages[1].blocks[0]"
    sent = re.search(r"the id '([^']+)' in place of", said)
    assert sent
    assert sent[1] in repr(convert(messages, target))


def test_an_id_that_is_used_again_is_rewritten_for_anthropic_only() -> None:
    turn = [assistant(call("a")), user(result("a"))]
    messages = [user(), *turn, *copy.deepcopy(turn)]
    assert [place for place, _ in found(messages, "anthropic", "warning")] == [
        "messages[3].blocks[0]"
    ]
    assert found(messages, "openai", "warning") == []


@pytest.mark.parametrize("target", sorted(FORMATS))
def test_parts_that_no_import_could_read_are_not_sent_and_told(target: str) -> None:
    messages = [says("user", text("see"), detail={"unread_parts": [{"type": "audio"}, {}]})]
    ((place, said),) = found(messages, target, "warning")
    assert (place, "2 parts" in said) == ("messages[0]", True)


@pytest.mark.parametrize(
    ("kind", "data", "refused_by"),
    [
        ("image/png", PNG, set()),
        ("image/jpg", JPEG, set()),
        ("IMAGE/JPEG", JPEG, set()),
        ("image/bmp", PNG, set(FORMATS) - {"anthropic"}),
        ("image/gif", base64.b64encode(b"GIF89a...").decode(), {"google"}),
        ("image/heic", "AAAA", {"openai", "openrouter", "responses"}),
        ("image/png", JPEG, set(FORMATS)),
        ("image/png", "UE5H", set(FORMATS)),
        ("image/png", "not base64!", set(FORMATS)),
        ("image/png", "", set(FORMATS)),
    ],
)
def test_images_that_an_api_does_not_take(kind: str, data: str, refused_by: set[str]) -> None:
    messages = [user(text("see"), picture(kind, data))]
    told = {name for name in FORMATS if found(messages, name, "warning")}
    assert told == refused_by
    assert {each.place for name in told for each in preflight(messages, name)} <= {
        "messages[0].blocks[1]"
    }


def test_an_image_says_what_its_data_is() -> None:
    ((_, said),) = found([user(picture("image/png", JPEG))], "anthropic", "warning")
    assert "says image/png, but its data is image/jpeg" in said


def test_an_image_in_a_result_is_named_in_its_result() -> None:
    messages = [user(), assistant(call()), user(result("c1", text("x"), picture(data="UE5H")))]
    ((place, _),) = found(messages, "anthropic", "warning")
    assert place == "messages[2].blocks[0].blocks[1]"


SYSTEM = says("system", text("be kind"))
SIGNED = thought("hm", signature="sig")


@pytest.mark.parametrize(
    ("target", "messages", "place", "words"),
    [
        ("openai", [], "messages", "without a message"),
        ("responses", [], "messages", "without a message"),
        ("anthropic", [], "messages", "besides the system text"),
        ("anthropic", [SYSTEM], "messages", "besides the system text"),
        ("google", [SYSTEM], "messages", "besides the system text"),
        ("anthropic", [SYSTEM, assistant(), user()], "messages[1]", "begins with the assistant"),
        ("anthropic", [user(), assistant()], "messages[1]", "last message of the assistant"),
        ("anthropic", [user(), assistant(thought(), text("a")), user()],
         "messages[1].blocks[0]", "without its signature"),
        ("anthropic", [user(), assistant(text("a"), SIGNED), user()],
         "messages[1].blocks[1]", "ends with thinking"),
        ("anthropic", [user(), assistant(SIGNED, text(" ")), user()],
         "messages[1].blocks[0]", "ends with thinking"),
        ("anthropic", [user(), assistant(text("a"), picture()), user()],
         "messages[1].blocks[1]", "images in messages of the assistant"),
        ("anthropic", [user(), assistant(call()), user(result("c1", picture(), error=True))],
         "messages[2].blocks[0]", "failed call"),
        ("anthropic", [user(), assistant(call()), user(result("c1", text(" ")))],
         "messages[2].blocks[0].blocks[0]", "white space"),
        ("google", [user(), assistant()], "messages[1]", "ends with the model"),
        ("google", [assistant(call()), user(result())],
         "messages[0].blocks[0]", "right before a call"),
        ("google", [user(), assistant(), assistant(call()), user(result())],
         "messages[2].blocks[0]", "right before a call"),
        ("google", [user(), assistant(call("c1", "9 lives")), user(result()), assistant(), user()],
         "messages[1].blocks[0]", "'9 lives'"),
        ("google", [user(), assistant(call()), user(result())],
         "messages[1].blocks[0]", "thought signature"),
        ("openai", [user(), assistant(text("a"), thought(), thought()), user()],
         "messages[1].blocks[1]", "reasoning_content"),
        ("responses", [user(), assistant(thought(), text("a")), user()],
         "messages[1].blocks[0]", "without an id"),
        ("responses", [user(), assistant(thought(detail={"encrypted_content": "g", "id": "rs_1"})),
                       user()], "messages[1].blocks[0]", "that followed it"),
    ],
)  # fmt: skip
def test_an_api_refuses_what_its_format_carries(
    target: str, messages: list[dict[str, Any]], place: str, words: str
) -> None:
    assert refusal_of(messages, target) is None
    assert found(messages, target, "error") == []
    told = found(messages, target, "warning")
    assert [each for each in told if words in each[1]] == [
        each for each in told if each[0] == place and words in each[1]
    ]
    assert any(words in said for _, said in told)


@pytest.mark.parametrize(
    ("target", "messages"),
    [
        ("anthropic", [user(), assistant(SIGNED, text("a")), user(text(" "), text("b"))]),
        ("anthropic", [user(), assistant(SIGNED, call()),
                       user(result("c1", text("x"), picture()))]),
        ("anthropic", [user(), assistant(thought("", detail={"redacted_data": "s"}), call()),
                       user(result(error=True))]),
        ("anthropic", [SYSTEM, user(), user()]),
        ("google", [user(), assistant(call()), user(result()), assistant(), user()]),
        ("google", [SYSTEM, user(), assistant(call("c1", "ns.find:it-now")), user(result()),
                    user(text("and?"))]),
        ("openrouter", [user(), assistant(thought(), text("a")), user()]),
        ("openai", [SYSTEM, user(), assistant(), assistant(), SYSTEM]),
        ("responses", [user(), assistant(thought(detail={"encrypted_content": "g", "id": "rs_1"}),
                                         text("a")), user()]),
    ],
)  # fmt: skip
def test_what_an_api_takes_is_no_problem(target: str, messages: list[dict[str, Any]]) -> None:
    assert preflight(messages, target) == []


# ---- the tools beside it --------------------------------------------------------------------


def test_definitions_of_tools_that_a_provider_refuses_are_errors() -> None:
    tools: list[Any] = [
        {"name": "find"},
        {"type": "function", "function": {"name": "two words"}},
        {"name": "n" * 65, "input_schema": {}},
        {"name": "find"},
        {"description": "nameless"},
        "find",
    ]
    problems = preflight([user()], "openai", tools=tools)
    assert [each.place for each in problems] == [f"tools[{i}]" for i in (1, 2, 3, 4, 5)]
    assert {each.severity for each in problems} == {"error"}
    long_name = [each for each in preflight([user()], "anthropic", tools=tools)
                 if each.place == "tools[2]"]  # fmt: skip
    assert long_name == []


def test_a_call_of_a_tool_that_is_not_offered_is_told() -> None:
    messages = [user(), assistant(call(), call("c2", "seek")), user(result(), result("c2"))]
    problems = preflight(messages, "openai", tools=[{"name": "find"}])
    assert problems == [
        Problem("messages[1].blocks[1]", "the tool 'seek' is called but not offered", "warning")
    ]
    assert preflight(messages, "openai") == []


def test_anthropic_wants_tools_where_tools_were_called() -> None:
    messages = [user(), assistant(call()), user(result())]
    (problem,) = preflight(messages, "anthropic", tools=[])
    assert (problem.place, problem.severity) == ("messages[1].blocks[0]", "warning")
    assert "no tool is offered" in problem.message
