"""What a person sees of a save in Chromium: what is said, where the focus goes."""

import pytest
from playwright.sync_api import expect

from apps.tasks.models import Split, Task
from tests.cast import Cast
from tests.factories import make_content, make_task, message
from tests.studio.conftest import OpenPage
from tests.studio.writing import TASKS, editor, save, saved, text_of, turns

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_failed_save_names_the_field_and_its_words_leave_with_the_next(
    cast: Cast, task: Task, open_page: OpenPage
) -> None:
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    name = page.get_by_role("combobox", name="Name of the tool")
    name.fill("")
    text_of(page, 0).focus()
    for _ in range(2):
        save(page)
        expect(page.locator(".toast--danger")).to_have_text(
            "Not saved. Turn 2, tool call: the name must not be empty."
        )
        expect(name).to_be_focused()
        expect(name).to_have_attribute("aria-invalid", "true")
    name.fill("find_order")
    text_of(page, 0).fill("Where is it?")
    save(page)
    saved(page, 2)
    expect(page.locator(".toast--danger")).to_have_count(0)


def test_enter_in_what_changed_saves_and_a_new_key_is_one_revision_and_everywhere(
    cast: Cast, task: Task, open_page: OpenPage
) -> None:
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    text_of(page, 0).fill("Where is it?")
    page.get_by_role("textbox", name="Key").fill("parcel")
    page.get_by_role("textbox", name="What changed").first.fill("Shorter")
    page.keyboard.press("Enter")
    saved(page, 2)
    expect(page.locator(".breadcrumb [aria-current]")).to_have_text("parcel")
    assert page.title().startswith("parcel ")
    assert [each.message for each in task.revisions.order_by("number")][1:] == ["Shorter"]


def test_escape_closes_the_panel_on_a_phone(cast: Cast, task: Task, open_page: OpenPage) -> None:
    page = editor(open_page("author", f"{TASKS}{task.pk}/", width=390, height=844))
    opener = page.get_by_role("button", name="Panel")
    for inside in (False, True):
        opener.click()
        key = page.get_by_role("textbox", name="Key")
        expect(key).to_be_visible()
        if inside:
            key.focus()
        page.keyboard.press("Escape")
        expect(key).to_be_hidden()
        expect(opener).to_be_focused()


@pytest.mark.parametrize("width", [1440, 1024, 700, 390])
def test_the_tools_of_a_block_stand_beside_its_text(
    cast: Cast, split: Split, open_page: OpenPage, width: int
) -> None:
    task = make_task(split=split, content=make_content(message("user", "A long line. " * 40)))
    page = editor(open_page("author", f"{TASKS}{task.pk}/", width=width))
    text_of(page, 0).focus()
    text = text_of(page, 0).bounding_box()
    tools = turns(page).nth(0).locator(".block__tools > *").all()
    boxes = [box for tool in tools if (box := tool.bounding_box())]
    assert text is not None
    assert boxes
    assert min(box["x"] for box in boxes) >= text["x"] + text["width"]
