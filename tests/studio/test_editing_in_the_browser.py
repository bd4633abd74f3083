"""Writing a conversation in Chromium: by keyboard and by mouse."""

import base64

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from apps.accounts.permissions import Actor
from apps.tasks.models import Split, Task
from tests.cast import Cast
from tests.factories import call, make_content, make_task, message, result
from tests.studio.conftest import OpenPage
from tests.studio.writing import TASKS, editor, roles, save, saved, stored, text_of, turns

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"
    "RU5ErkJggg=="
)


def test_a_conversation_with_all_five_blocks_is_written_by_keyboard(
    cast: Cast, split: Split, open_page: OpenPage
) -> None:
    page = editor(open_page("author", f"{TASKS}new/"))
    page.keyboard.press("a")
    page.keyboard.type("Where is my parcel?")
    page.keyboard.press("Escape")
    page.keyboard.press("a")  # the assistant's turn
    page.keyboard.type("I look it up.")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.keyboard.type("The order first.")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    page.keyboard.type("find_order")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type('{"order": 7302, "since": 1.0}')
    page.keyboard.press("Escape")
    page.keyboard.press("a")  # the result that the call waits for
    page.keyboard.type("held at the depot")
    page.keyboard.press("Escape")
    page.keyboard.press("i")
    turns(page).nth(2).locator("input[type=file]").set_input_files(
        {"name": "a.png", "mimeType": "image/png", "buffer": base64.b64decode(PIXEL)}
    )
    expect(page.locator(".ed-picture__shown")).to_be_visible()
    save(page)
    saved(page, 1)
    expect(page).to_have_url(f"{page.url.split('/tasks/')[0]}/tasks/{Task.objects.get().pk}/")
    messages = stored(Task.objects.get())
    assert [[block["type"] for block in each["blocks"]] for each in messages] == [
        ["text"],
        ["text", "reasoning", "tool_call"],
        ["tool_result", "image"],
    ]
    assert messages[1]["blocks"][2]["input"] == {"order": 7302, "since": 1.0}
    assert isinstance(messages[1]["blocks"][2]["input"]["since"], float)
    assert messages[2]["blocks"][0]["tool_call_id"] == messages[1]["blocks"][2]["id"]
    assert messages[2]["blocks"][1]["data"] == PIXEL
    page.reload()
    expect(text_of(editor(page), 0)).to_have_value("Where is my parcel?")


def test_turns_are_inserted_moved_retyped_and_deleted_by_keyboard(
    cast: Cast, split: Split, open_page: OpenPage
) -> None:
    task = make_task(split=split, content=make_content(message("user", "1"), message("user", "2")))
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    page.keyboard.press("j")  # the first turn is selected: now the second
    page.keyboard.press("b")
    page.keyboard.type("between")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("k")
    save(page)
    saved(page, 2)
    said = [each["blocks"][0]["text"] for each in stored(task)]
    assert said == ["between", "1", "2"]
    assert roles(task) == ["system", "user", "user"]
    page.keyboard.press("j")
    page.keyboard.press("Delete")
    save(page)
    saved(page, 3)
    assert [each["blocks"][0]["text"] for each in stored(task)] == ["between", "2"]


def test_turns_are_added_moved_and_deleted_with_the_mouse(
    cast: Cast, split: Split, open_page: OpenPage
) -> None:
    task = make_task(split=split, content=make_content(message("user", "1"), message("user", "2")))
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    page.get_by_role("button", name="Add a turn", exact=True).click()
    page.keyboard.type("3")
    first = page.locator(".outline li").nth(0).locator("button")
    first.drag_to(page.locator(".outline li").nth(2), target_position={"x": 40, "y": 26})
    turns(page).nth(0).hover()
    page.get_by_role("button", name="Move turn 1 down").click()
    turns(page).nth(2).hover()
    page.get_by_role("button", name="Turn 3: actions", exact=True).click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Save", exact=True).click()
    saved(page, 2)
    assert [each["blocks"][0]["text"] for each in stored(task)] == ["3", "2"]


def test_blocks_are_dragged_retyped_and_deleted(
    cast: Cast, split: Split, open_page: OpenPage
) -> None:
    content = make_content(
        message("assistant", "first", "second", 'find {"a": 1.0}'), message("assistant", "last")
    )
    task = make_task(split=split, content=content)
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    blocks = turns(page).nth(0).locator(".block")
    blocks.nth(0).hover()
    target = turns(page).nth(1).locator(".block")
    blocks.nth(0).locator("[data-drags]").drag_to(target, target_position={"x": 60, "y": 30})
    expect(turns(page).nth(1).locator(".block")).to_have_count(2)
    blocks.nth(0).hover()
    blocks.nth(0).get_by_role("button", name="actions").click()
    page.get_by_role("menuitem", name="Turn into reasoning").click()
    blocks.nth(1).hover()
    blocks.nth(1).get_by_role("button", name="actions").click()
    page.get_by_role("menuitem", name="Turn into a tool call").click()
    save(page)
    saved(page, 2)
    (first, second) = stored(task)
    assert [block["type"] for block in first["blocks"]] == ["reasoning", "tool_call"]
    assert first["blocks"][1]["name"] == "find"
    assert [block["text"] for block in second["blocks"]] == ["last", "first"]


def test_broken_json_is_told_at_its_line_and_never_saved(
    cast: Cast, task: Task, open_page: OpenPage
) -> None:
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    field = page.get_by_role("textbox", name="Input of the call as JSON")
    field.fill('{"order": }')
    expect(page.locator(".problem").first).to_contain_text("Line 1, column 11: a value is missing.")
    page.get_by_role("textbox", name="Key").focus()
    save(page)
    expect(page.locator(".toast--danger")).to_contain_text("Not saved")
    expect(field).to_be_focused()
    assert task.revisions.count() == 1
    field.fill('{"order": 12345678901234567890, "weight": 1e2}')
    save(page)
    saved(page, 2)
    order = stored(task)[1]["blocks"][1]["input"]
    assert order == {"order": 12345678901234567890, "weight": 100.0}


def test_what_nobody_touched_survives_an_edit_beside_it(
    cast: Cast, split: Split, author: Actor, open_page: OpenPage
) -> None:
    odd = {"z": 1.0, "a": 12345678901234567890123, "n": {"y": None, "x": 1e22}}
    assistant = message(
        "assistant",
        {"type": "reasoning", "text": "", "signature": "sig", "detail": {"b": 1.0, "a": 2}},
        {"type": "tool_call", "id": "c1", "name": "f", "input": odd},
    )
    content = make_content(
        {**message("user", "a\r\nb\rc  \n"), "detail": {"k": []}},
        assistant,
        message("user", result("c1", "x\u2028y")),
        message("user", "last"),
        target=2.50,
    )
    task = make_task(actor=author, split=split, content=content, status="ready")
    assert task.current is not None
    before = task.current.content
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    save(page)
    expect(page.locator(".toast")).to_contain_text("Nothing has changed")
    text_of(page, 3).fill("edited")
    save(page)
    saved(page, 2)
    task.refresh_from_db()
    assert task.current.content == before.replace('"text":"last"', '"text":"edited"')
    text_of(page, 0).focus()
    page.keyboard.press("Control+Home")
    page.keyboard.type("A")
    save(page)
    saved(page, 3)
    assert stored(task)[0]["blocks"][0]["text"] == "Aa\r\nb\rc  \n"


def test_a_refused_save_loses_nothing_and_points_at_the_block(
    cast: Cast, task: Task, open_page: OpenPage
) -> None:
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    text_of(page, 0).fill("kept")
    turns(page).nth(2).locator("header").click()
    turns(page).nth(2).focus()
    page.keyboard.press("3")  # an assistant's turn may not hold a result
    save(page)
    expect(page.locator(".toast--danger")).to_contain_text("cannot stand in a assistant message")
    expect(turns(page).nth(2).locator(".block.is-wrong")).to_be_focused()
    expect(text_of(page, 0)).to_have_value("kept")
    assert task.revisions.count() == 1
    page.keyboard.press("Control+z")
    save(page)
    saved(page, 2)
    assert stored(task)[0]["blocks"][0]["text"] == "kept"


def test_undo_and_redo_walk_through_everything(cast: Cast, task: Task, open_page: OpenPage) -> None:
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    before = text_of(page, 0).input_value()
    text_of(page, 0).click()
    page.keyboard.type("!")
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    page.keyboard.press("2")
    page.keyboard.press("Delete")
    expect(turns(page)).to_have_count(3)
    for _ in range(3):
        page.keyboard.press("Control+z")
    expect(turns(page)).to_have_count(3)
    expect(text_of(page, 0)).to_have_value(before)
    expect(page.locator(".editor__state")).to_have_text("Revision 1")
    for _ in range(2):
        page.keyboard.press("Control+Shift+z")
    expect(turns(page)).to_have_count(4)


def test_a_result_is_tied_to_the_call_that_is_chosen(
    cast: Cast, split: Split, open_page: OpenPage
) -> None:
    content = make_content(
        message("assistant", call("c1", "one"), call("c2", "two")),
        message("user", result("c1", "first"), result("zz", "orphan")),
    )
    task = make_task(split=split, content=content)
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    page.get_by_role("tab", name="Problems").click()
    expect(page.locator(".problem-list__item")).to_have_count(2)
    second = turns(page).nth(1).locator("[data-field=tool_call_id]").nth(1)
    second.select_option("c2")
    expect(page.get_by_text("Nothing is wrong.")).to_be_visible()
    expect(page.locator(".lane--end")).to_have_count(2)
    page.get_by_role("textbox", name="Id of the call").nth(1).fill("renamed")
    page.keyboard.press("Tab")
    expect(second).to_have_value("renamed")
    page.get_by_role("switch", name="Error").nth(1).check()
    save(page)
    saved(page, 2)
    last = stored(task)[1]["blocks"][1]
    assert (last["tool_call_id"], last["is_error"]) == ("renamed", True)


def test_the_payload_follows_what_is_typed(cast: Cast, task: Task, open_page: OpenPage) -> None:
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    page.get_by_role("tab", name="Payload").click()
    shown = page.locator(".payload__json")
    expect(shown).to_contain_text('"role": "user"')
    text_of(page, 0).fill("typed just now")
    expect(shown).to_contain_text("typed just now")
    page.get_by_role("button", name="Google").click()
    expect(page.locator(".payload__refused")).to_contain_text("Google cannot carry this.")
    expect(page.get_by_role("button", name="Google")).to_contain_text("cannot carry this")


def test_what_a_provider_cannot_carry_is_marked_at_its_block_and_led_to(
    cast: Cast, split: Split, open_page: OpenPage
) -> None:
    thought = {"type": "reasoning", "text": "Hm."}
    content = make_content(message("user", "Hi"), message("assistant", "Let me see.", thought))
    task = make_task(split=split, content=content)
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    marked = page.locator(".block--reasoning .mark")
    expect(marked).to_have_text("Google: has no form for reasoning in the input.")
    expect(page.locator(".outline + .tokens").first).to_contain_text("tokens")
    page.get_by_role("tab", name="Payload").click()
    page.get_by_role("button", name="Anthropic").click()
    refused = page.get_by_role("button", name="Refuses thinking without its signature.")
    expect(page.locator(".mark--warning").first).to_contain_text("Anthropic:")
    refused.click()
    expect(page.locator(".block--reasoning")).to_be_focused()
    page.get_by_role("button", name="Reasoning of turn 2: actions").click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.locator(".block .mark")).to_have_count(0)
    expect(page.locator(".ed-turn .mark")).to_contain_text("last message of the assistant")


def test_ready_tells_who_cannot_be_served(cast: Cast, split: Split, open_page: OpenPage) -> None:
    thought = {"type": "reasoning", "text": "Hm."}
    content = make_content(message("user", "Hi"), message("assistant", thought, "Yes."))
    task = make_task(split=split, content=content, status="draft")
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    page.get_by_role("radio", name="Ready").check()
    told = page.locator(".facts-form .mark")
    expect(told).to_contain_text("Google cannot carry this conversation")
    save(page)
    expect(page.locator(".toast")).to_contain_text("not for harnesses that ask for the format of")
    told.get_by_role("button", name="Show why").click()
    expect(page.locator(".payload__refused")).to_contain_text("Google cannot carry this.")


def test_facts_of_the_task_are_edited_and_saved(
    cast: Cast, task: Task, open_page: OpenPage
) -> None:
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    page.get_by_role("textbox", name="Key").fill("parcel")
    page.get_by_role("textbox", name="Tags").fill("a, b,a")
    page.get_by_role("textbox", name="Attributes as JSON").fill('{"target": 1.0, "n": 1e2}')
    page.get_by_role("textbox", name="What changed").first.fill("Facts")
    page.get_by_role("radio", name="Draft").check()
    save(page)
    expect(page.locator(".editor__state")).to_contain_text("Revision")
    expect(page.locator(".editor__title .chip")).to_have_text("Draft")
    task.refresh_from_db()
    assert (task.key, task.status, task.tags) == ("parcel", "draft", ["a", "b"])
    assert task.current is not None
    assert '"attributes":{"target":1.0,"n":100.0}' in task.current.content


def test_a_key_that_is_taken_is_told_beside_the_key(
    cast: Cast, task: Task, split: Split, open_page: OpenPage
) -> None:
    make_task(split=split, key="taken")
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    page.get_by_role("textbox", name="Key").fill("taken")
    save(page)
    expect(page.get_by_role("textbox", name="Key")).to_be_focused()
    expect(page.locator("#problem-task-key")).to_contain_text("There is a task 'taken'")


def test_history_shows_the_change_and_restores(cast: Cast, task: Task, open_page: OpenPage) -> None:
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    text_of(page, 0).fill("Where is my parcel? Order 7303.")
    save(page)
    saved(page, 2)
    page.get_by_role("tab", name="History").click()
    page.get_by_role("link", name="1 Saved").click()
    page.get_by_role("link", name="Current", exact=True).click()
    expect(page.locator("ins")).to_have_text("7302")
    page.get_by_role("button", name="Restore revision 1").click()
    expect(page.locator(".toast")).to_contain_text("as revision 3")
    assert stored(task)[0]["blocks"][0]["text"] == "Where is my parcel? Order 7302."


def test_a_viewer_reads_and_changes_nothing(cast: Cast, task: Task, open_page: OpenPage) -> None:
    page = editor(open_page("viewer", f"{TASKS}{task.pk}/"))
    expect(page.locator(".editor__state")).to_have_text("Revision 1, for reading")
    expect(page.get_by_role("button", name="Save")).to_have_count(0)
    expect(text_of(page, 0)).to_have_attribute("readonly", "")
    turns(page).nth(0).focus()
    for key in ("a", "d", "Delete", "1", "t"):
        page.keyboard.press(key)
    expect(turns(page)).to_have_count(3)


def test_a_picture_is_pasted_beside_the_text(cast: Cast, task: Task, open_page: OpenPage) -> None:
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    text_of(page, 0).evaluate(
        """(area, data) => {
          const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
          const transfer = new DataTransfer();
          transfer.items.add(new File([bytes], "a.png", { type: "image/png" }));
          const options = { clipboardData: transfer, bubbles: true, cancelable: true };
          area.dispatchEvent(new ClipboardEvent("paste", options));
        }""",
        PIXEL,
    )
    expect(turns(page).nth(0).locator(".ed-picture__shown")).to_be_visible()
    save(page)
    saved(page, 2)
    assert stored(task)[0]["blocks"][1]["data"] == PIXEL


def test_four_hundred_turns_open_within_a_second_and_take_typing_at_once(
    cast: Cast, split: Split, open_page: OpenPage
) -> None:
    words = "One thing follows from another, and this from both. " * 6
    many = [
        message("user" if number % 2 == 0 else "assistant", f"Turn {number}. {words}")
        for number in range(400)
    ]
    task = make_task(split=split, content=make_content(*many), status="ready")
    page = open_page("author", "/projects/")
    page.goto(f"{TASKS}{task.pk}/")
    editor(page)
    drawn = page.evaluate("performance.getEntriesByName('editor drawn')[0].startTime")
    assert drawn < 2000, "opening, on a machine that is busy with other tests"
    area = text_of(page, 0)
    area.focus()
    spent = area.evaluate(
        """(area) => {
          const started = performance.now();
          for (let step = 0; step < 50; step += 1) {
            area.value += "x";
            area.dispatchEvent(new InputEvent("input", { bubbles: true }));
          }
          return (performance.now() - started) / 50;
        }"""
    )
    assert spent < 16, "milliseconds a key press: more would be felt"
    page.keyboard.press("Control+z")
    expect(area).to_have_value(f"Turn 0. {words}")


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_axe_finds_nothing(
    cast: Cast, split: Split, author: Actor, open_page: OpenPage, width: int
) -> None:
    content = make_content(
        message("system", "Be kind."),
        message("user", "Look", {"type": "image", "data": PIXEL, "mimeType": "image/png"}),
        message(
            "assistant",
            {"type": "reasoning", "text": "Long. " * 90, "signature": "x", "detail": {"a": 1}},
            call("c1", "one", x=1),
            call("c2", "two"),
        ),
        message("user", result("c1", '{"a": 1}'), result("zz", is_error=True)),
        message("assistant"),
    )
    task = make_task(actor=author, split=split, content=content)
    page = editor(open_page("author", f"{TASKS}{task.pk}/", width=width))
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    if width < 900:
        page.get_by_role("button", name="Panel").click()
    for tab in ("Problems", "Payload", "History"):
        page.get_by_role("tab", name=tab).click()
        page.wait_for_load_state("networkidle")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
    page.goto(f"{TASKS}{task.pk}/history/")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
