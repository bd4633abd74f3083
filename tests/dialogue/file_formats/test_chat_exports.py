"""Exports of Claude, Open WebUI and LibreChat."""

from typing import Any

from apps.dialogue.blocks import ReasoningBlock, ToolCallBlock, ToolResultBlock
from tests.dialogue.file_formats.reading import codes, read_all, read_one, said, task_of

ROOT = "00000000-0000-4000-8000-000000000000"


def claude(*messages: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"uuid": "c", "name": "N", "chat_messages": list(messages), **keys}


def turn(sender: str, *content: Any, **keys: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": each} if isinstance(each, str) else each for each in content]
    return {"sender": sender, "text": "", "content": blocks, **keys}


def test_a_conversation_of_claude_is_read_from_its_blocks() -> None:
    read = read_one(claude(turn("human", "Q"), turn("assistant", "A")))
    assert (read.format, read.roles) == ("claude_export", "ua")
    assert read.task is not None
    assert (read.task.key, read.task.attributes) == ("c", {"name": "N"})


def test_the_text_stands_for_missing_blocks() -> None:
    row = claude({"sender": "human", "text": "Q"}, {"sender": "assistant", "text": "A"})
    assert said(task_of(row).messages) == [("user", "Q"), ("assistant", "A")]


def test_results_inside_an_answer_become_turns_between_its_parts() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": 1}, "message": "Asking"}
    result = {"type": "tool_result", "tool_use_id": "t1", "name": "f", "is_error": True,
              "content": [{"type": "text", "text": "no", "uuid": "x"}]}  # fmt: skip
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    row = claude(turn("human", "Q"), turn("assistant", thinking, "Look.", call, result, "Done."))
    messages = task_of(row).messages
    assert read_one(row).roles == "uata"
    reasoning, text, called = messages[1].blocks
    assert isinstance(reasoning, ReasoningBlock)
    assert reasoning.signature == "sig"
    assert text.type == "text"
    assert isinstance(called, ToolCallBlock)
    (answered,) = messages[2].blocks
    assert isinstance(answered, ToolResultBlock)
    assert (answered.tool_call_id, answered.is_error) == ("t1", True)


def test_calls_of_old_exports_get_ids_that_tie_them_to_their_results() -> None:
    call = {"type": "tool_use", "name": "f", "input": {}}
    result = {"type": "tool_result", "name": "f", "content": "ok"}
    row = claude(turn("human", "Q"), turn("assistant", call, result, call, result, "A"))
    ids = [
        block.id for message in task_of(row).messages for block in message.blocks
        if isinstance(block, ToolCallBlock)
    ]  # fmt: skip
    assert len(set(ids)) == 2
    assert read_one(row).roles == "uatata"
    assert "ids_invented" in codes(row)


def test_attached_texts_are_read_and_files_are_named() -> None:
    attached = {"file_name": "a.txt", "extracted_content": "inside"}
    row = claude(turn("human", "Q", attachments=[attached], files=[{"file_name": "b.png"}]))
    (message,) = task_of(row).messages
    assert message.text == "inside\nQ"
    assert message.blocks[0].detail == {"attachment": {"file_name": "a.txt"}}
    assert message.detail == {"unread_parts": [{"file_name": "b.png"}]}
    assert {"attachment", "asset_pointer"} <= codes(row)


def test_edited_messages_of_claude_are_branches() -> None:
    row = claude(
        turn("human", "Q", uuid="1", parent_message_uuid=ROOT),
        turn("assistant", "A", uuid="2", parent_message_uuid="1"),
        turn("assistant", "B", uuid="3", parent_message_uuid="1"),
    )
    read = read_all([row])
    assert [(each.task.key, each.task.messages[1].text) for each in read if each.task] == [
        ("c-2", "A"), ("c", "B")
    ]  # fmt: skip


def test_an_export_with_all_conversations_in_one_object_is_parted() -> None:
    row = {"account": {}, "conversations": [claude(turn("human", "Q"))] * 2}
    assert [each.format for each in read_all([row])] == ["claude_export"] * 2


def webui(*messages: dict[str, Any], current: str = "", **chat: Any) -> dict[str, Any]:
    by_id = {each["id"]: each for each in messages}
    history = {"messages": by_id, "currentId": current or messages[-1]["id"]}
    return {"id": "w", "title": "T", "chat": {"history": history, **chat}}


ASKED = {"id": "a", "parentId": None, "childrenIds": ["b"], "role": "user", "content": "Q"}


def answer(content: Any, **keys: Any) -> dict[str, Any]:
    return {"id": "b", "parentId": "a", "role": "assistant", "content": content, **keys}


def test_items_of_an_answer_are_read_instead_of_its_html() -> None:
    output = [
        {"type": "reasoning", "content": [{"type": "output_text", "text": "hm"}], "summary": None},
        {"type": "function_call", "call_id": "k", "name": "f", "arguments": '{"x": 1}'},
        {"type": "function_call_output", "call_id": "k",
         "output": [{"type": "input_text", "text": "ok"}]},
        {"type": "message", "role": "assistant",
         "content": [{"type": "output_text", "text": "A"}]},
    ]  # fmt: skip
    html = '<details type="tool_calls"><summary>x</summary></details>A'
    row = webui(ASKED, answer(html, output=output, model="m"), system="S")
    read = read_one(row)
    assert (read.format, read.roles) == ("openwebui_export", "suata")
    assert read.task is not None
    assert [block.type for block in read.task.messages[2].blocks] == ["reasoning", "tool_call"]
    assert read.task.messages[2].detail == {"model": "m"}
    assert read.task.messages[4].text == "A"
    assert "html_in_content" in codes(row)


def test_reasoning_and_calls_that_are_only_html_become_blocks() -> None:
    html = (
        '<details type="reasoning" done="true" duration="3">\n<summary>Thought</summary>\n'
        "&gt; one &lt; two\n&gt; three\n</details>\n"
        '<details type="tool_calls" done="true" id="k" name="f" '
        'arguments="&quot;{\\&quot;x\\&quot;: 1}&quot;" result="&quot;ok&quot;" files="">\n'
        "<summary>Tool Executed</summary>\n</details>\nA"
    )
    messages = task_of(webui(ASKED, answer(html))).messages
    reasoning, call = messages[1].blocks
    assert isinstance(reasoning, ReasoningBlock)
    assert reasoning.text == "one < two\nthree"
    assert isinstance(call, ToolCallBlock)
    assert (call.id, call.name, call.input) == ("k", "f", {"x": 1})
    (result,) = messages[2].blocks
    assert isinstance(result, ToolResultBlock)
    assert [block.to_wire()["text"] for block in result.blocks] == ["ok"]
    assert messages[3].text == "A"


def test_other_html_stays_as_it_was_written() -> None:
    text = "<details><summary>Mine</summary>x</details> & <b>y</b>"
    row = webui(ASKED, answer(text))
    assert task_of(row).messages[1].text == text
    assert "html_in_content" not in codes(row)


def test_chats_with_a_list_of_messages_and_with_images_are_read() -> None:
    files = [{"type": "image", "url": "data:image/png;base64,UE5H"}, {"type": "file", "id": "f"}]
    chat = {"messages": [{**ASKED, "files": files}, answer("A")]}
    row = {"id": "w", "chat": chat}
    (asked, _) = task_of(row).messages
    assert [block.type for block in asked.blocks] == ["text", "image"]
    assert asked.detail == {"unread_parts": [files[1]]}
    assert "asset_pointer" in codes(row)


def libre(*messages: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"conversationId": "l", "title": "T", "messages": list(messages), **keys}


NONE = "00000000-0000-0000-0000-000000000000"
FIRST = {"messageId": "1", "parentMessageId": NONE, "isCreatedByUser": True, "text": "Q"}


def test_flat_exports_of_librechat_are_parted_into_branches() -> None:
    row = libre(
        FIRST,
        {"messageId": "2", "parentMessageId": "1", "isCreatedByUser": False, "text": "A"},
        {"messageId": "3", "parentMessageId": "1", "isCreatedByUser": False, "text": "B"},
        options={"promptPrefix": "S", "model": "m"},
    )
    read = read_all([row])
    assert [each.format for each in read] == ["librechat_export"] * 2
    assert [(each.task.key, each.roles) for each in read if each.task] == [
        ("l-2", "sua"), ("l", "sua")
    ]  # fmt: skip


def test_recursive_exports_hold_children_inside_their_parents() -> None:
    content = [
        {"type": "think", "think": "hm"},
        {"type": "text", "text": {"value": "Look."}},
        {"type": "tool_call", "tool_call": {"id": "k", "name": "f", "args": '{"x":1}',
                                            "output": "ok"}},
        {"type": "text", "text": "A"},
    ]  # fmt: skip
    child = {"messageId": "2", "isCreatedByUser": False, "text": "", "content": content}
    row = libre(recursive=True, messagesTree=[{**FIRST, "children": [child]}])
    del row["messages"]
    messages = task_of(row).messages
    assert read_one(row).roles == "uata"
    assert [block.type for block in messages[1].blocks] == ["reasoning", "text", "tool_call"]
    assert messages[3].text == "A"


def test_a_list_without_parents_is_one_conversation() -> None:
    row = libre(
        {"messageId": "1", "isCreatedByUser": True, "text": "Q"},
        {"messageId": "2", "isCreatedByUser": False, "text": "A"},
    )
    assert read_one(row).roles == "ua"


def test_ids_and_times_of_messages_are_left_out_with_a_note() -> None:
    mine = {"messageId": "1", "text": "Q", "isCreatedByUser": True, "sender": "User"}
    theirs = {"messageId": "2", "parentMessageId": "1", "text": "A", "isCreatedByUser": False}
    told = {"sender": "Engineer", "createdAt": "2026", "tokenCount": 9, "isEdited": False}
    libre = {"conversationId": "c", "exportAt": "x", "messages": [mine, {**theirs, **told}]}
    rows = (
        (libre, "createdAt, tokenCount"),
        (claude(turn("human", "Q", created_at="2026"), turn("assistant", "A")), "created_at"),
    )
    for row, names in rows:
        (left,) = [note for note in read_one(row).notes if note.code == "bookkeeping"]
        assert left.kind == "dropped"
        assert left.message.endswith(f": {names}")
    assert task_of(libre).messages[1].detail == {"sender": "Engineer"}
    assert task_of(libre).messages[0].detail is None
    assert task_of(libre).attributes["exportAt"] == "x"


def test_a_conversation_of_librechat_without_messages_is_told_as_empty() -> None:
    read = read_one({"conversationId": "c", "title": "T", "messages": []})
    assert (read.format, read.task) == ("librechat_export", None)
    assert "empty_conversation" in {note.code for note in read.notes}
