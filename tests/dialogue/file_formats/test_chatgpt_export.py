"""ChatGPT's export: each branch a conversation, what was hidden told, calls tied to results."""

from typing import Any

from apps.dialogue.blocks import ReasoningBlock, ToolCallBlock, ToolResultBlock
from tests.dialogue.file_formats.reading import codes, read_all, read_one, said, task_of


def node(
    name: str, parent: str | None, role: str = "", content: Any = None, **message: Any
) -> dict[str, Any]:
    if not role:
        return {"id": name, "parent": parent, "message": None}
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    author = {"role": role, "name": message.pop("tool", None)}
    return {
        "id": name,
        "parent": parent,
        "message": {"id": name, "author": author, "content": content, **message},
    }


def export(*nodes: dict[str, Any], current: str = "", **keys: Any) -> dict[str, Any]:
    mapping = {each["id"]: each for each in nodes}
    return {
        "title": "T",
        "conversation_id": "c",
        "current_node": current or nodes[-1]["id"],
        "mapping": mapping,
        **keys,
    }


HIDDEN = {"is_visually_hidden_from_conversation": True}


def test_a_conversation_without_branches_is_one_row_under_its_own_id() -> None:
    row = export(node("r", None), node("u", "r", "user", "Q"), node("a", "u", "assistant", "A"))
    read = read_one(row)
    assert read.format == "chatgpt_export"
    assert read.task is not None
    assert read.task.key == "c"
    assert said(read.task.messages) == [("user", "Q"), ("assistant", "A")]
    assert read.task.attributes == {"title": "T", "conversation_id": "c"}


def test_every_branch_is_read_and_the_one_that_was_open_has_the_conversations_id() -> None:
    row = export(
        node("u", None, "user", "Q"),
        node("a", "u", "assistant", "A"),
        node("b", "u", "assistant", "B"),
        node("u2", "b", "user", "Q2"),
        current="a",
    )
    read = read_all([row])
    assert [(each.task.key, each.roles) for each in read if each.task] == [
        ("c", "ua"), ("c-u2", "uau")
    ]  # fmt: skip
    assert all("branches" in {note.code for note in each.notes} for each in read)


def test_a_user_message_without_metadata_or_parts_of_its_node_is_read() -> None:
    row = export(
        {"parent": None, "message": {"author": {"role": "user"}, "content": {"parts": ["Q"]}},
         "id": "u"}
    )  # fmt: skip
    assert said(task_of(row).messages) == [("user", "Q")]


def test_a_conversation_without_its_mapping_is_refused_with_the_reason() -> None:
    row = {"title": "T", "conversation_id": "c", "id": "c"}
    read = read_one(row)
    assert (read.format, read.task) == ("chatgpt_export", None)
    assert read.notes[-1].code == "missing_mapping"


def test_hidden_nodes_are_left_out_and_named() -> None:
    row = export(
        node("s", None, "system", "", metadata=HIDDEN),
        node("c", "s", "user", {"content_type": "user_editable_context", "user_profile": "x"}),
        node("u", "c", "user", "Q"),
    )
    assert said(task_of(row).messages) == [("user", "Q")]
    (note,) = [each for each in read_one(row).notes if each.code == "hidden_nodes"]
    assert note.kind == "dropped"
    assert "user_editable_context" in note.message
    assert "mapping.s" in note.message


def test_code_and_its_output_become_a_call_and_its_result() -> None:
    code = {"content_type": "code", "language": "python", "text": "1/0"}
    output = {"content_type": "execution_output", "text": "ZeroDivisionError"}
    failed = {"aggregate_result": {"status": "failed_with_in_kernel_exception"}}
    row = export(
        node("u", None, "user", "Q"),
        node("a", "u", "assistant", "Running."),
        node("k", "a", "assistant", code, recipient="python"),
        node("t", "k", "tool", output, tool="python", metadata=failed),
        node("e", "t", "assistant", "It fails."),
    )
    messages = task_of(row).messages
    assert read_one(row).roles == "uata"
    text, call = messages[1].blocks
    assert text.type == "text"
    assert isinstance(call, ToolCallBlock)
    assert (call.name, call.input) == ("python", {"code": "1/0", "language": "python"})
    (result,) = messages[2].blocks
    assert isinstance(result, ToolResultBlock)
    assert result.is_error
    assert result.tool_call_id == call.id


def test_json_sent_to_a_tool_is_its_input_and_several_answers_are_one_result() -> None:
    search = {"content_type": "code", "text": '{"search_query": [{"q": "x"}]}'}
    row = export(
        node("u", None, "user", "Q"),
        node("k", "u", "assistant", search, recipient="web.run"),
        node("t", "k", "tool", "first", tool="web.run"),
        node("t2", "t", "tool", "second", tool="web.run"),
    )
    messages = task_of(row).messages
    (call,) = messages[1].blocks
    assert isinstance(call, ToolCallBlock)
    assert call.input == {"search_query": [{"q": "x"}]}
    (result,) = messages[2].blocks
    assert isinstance(result, ToolResultBlock)
    assert [block.text for block in result.blocks if block.type == "text"] == ["first", "second"]


def test_a_hidden_result_still_answers_its_call() -> None:
    row = export(
        node("u", None, "user", "Q"),
        node("k", "u", "assistant", "remember", recipient="bio"),
        node("t", "k", "tool", "updated", tool="bio", metadata=HIDDEN),
        node("a", "t", "assistant", "Noted."),
    )
    assert read_one(row).roles == "uata"


def test_thoughts_become_reasoning_of_the_answer() -> None:
    thoughts = {
        "content_type": "thoughts",
        "thoughts": [{"summary": "S", "content": "long", "finished": True}],
    }
    recap = {"content_type": "reasoning_recap", "content": "Thought for 5s"}
    row = export(
        node("u", None, "user", "Q"),
        node("t", "u", "assistant", thoughts),
        node("r", "t", "assistant", recap),
        node("a", "r", "assistant", "A"),
    )
    (_, answer) = task_of(row).messages
    assert isinstance(answer.blocks[0], ReasoningBlock)
    assert answer.blocks[0].text == "long"
    assert answer.blocks[0].detail == {"summary": "S"}
    assert answer.text == "A"
    assert answer.detail == {"reasoning_recap": "Thought for 5s"}


def test_files_that_are_not_in_the_export_are_kept_by_their_names() -> None:
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://f"}
    content = {"content_type": "multimodal_text", "parts": [pointer, "What is it?"]}
    row = export(node("u", None, "user", content))
    (message,) = task_of(row).messages
    assert message.detail == {"unread_parts": [pointer]}
    assert "asset_pointer" in codes(row)


def test_content_that_has_no_block_is_kept_whole() -> None:
    content = {"content_type": "super_widget", "widget": 1}
    row = export(node("u", None, "user", "Q"), node("a", "u", "assistant", content))
    assert task_of(row).messages[1].detail == {"unread_parts": [content]}
    assert "unsupported_block" in codes(row)


def test_a_node_whose_parent_is_missing_begins_the_conversation() -> None:
    row = export(node("u", "gone", "user", "Q"))
    assert "orphan_parent" in codes(row)


def test_nodes_whose_parents_go_in_a_circle_are_told() -> None:
    circle = (node("u", "a", "user", "Q"), node("a", "u", "assistant", "A"))
    assert "orphan_parent" in codes(export(*circle))
    row = export(*circle, node("v", None, "user", "Q"))
    assert read_one(row).roles == "u"
    assert "orphan_parent" in codes(row)


def test_a_conversation_whose_mapping_is_null_is_told_by_its_title() -> None:
    read = read_one({"title": "T", "id": "x", "mapping": None})
    assert (read.format, read.task) == ("chatgpt_export", None)
    assert "missing_mapping" in {note.code for note in read.notes}
