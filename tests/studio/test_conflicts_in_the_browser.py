"""Two people at one task, and drafts that outlive their tab, in Chromium."""

import pytest
from playwright.sync_api import expect

from apps.tasks.models import Task
from tests.cast import Cast
from tests.studio.conftest import OpenPage
from tests.studio.writing import TASKS, editor, save, saved, stored, text_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_changes_to_different_turns_merge_by_themselves(
    cast: Cast, task: Task, open_page: OpenPage
) -> None:
    mine = editor(open_page("author", f"{TASKS}{task.pk}/"))
    theirs = editor(open_page("owner", f"{TASKS}{task.pk}/"))
    text_of(theirs, 2).fill("on its way")
    save(theirs)
    saved(theirs, 2)
    text_of(mine, 0).fill("Where is order 7303?")
    save(mine)
    saved(mine, 3)
    expect(mine.locator(".toast").first).to_contain_text("Merged 1 turn of revision 2 by owner")
    expect(text_of(mine, 2)).to_have_value("on its way")
    messages = stored(task)
    assert messages[0]["blocks"][0]["text"] == "Where is order 7303?"
    assert messages[2]["blocks"][0]["blocks"][0]["text"] == "on its way"


@pytest.mark.parametrize(
    ("choice", "kept"),
    [
        ("Keep mine", ["My question"]),
        ("Take owner's", ["Their question"]),
        ("Keep both, mine first", ["My question", "Their question"]),
    ],
)
def test_changes_to_the_same_turn_are_chosen_from(
    cast: Cast, task: Task, open_page: OpenPage, choice: str, kept: list[str]
) -> None:
    mine = editor(open_page("author", f"{TASKS}{task.pk}/"))
    theirs = editor(open_page("owner", f"{TASKS}{task.pk}/"))
    text_of(theirs, 0).fill("Their question")
    save(theirs)
    saved(theirs, 2)
    text_of(mine, 0).fill("My question")
    save(mine)
    conflict = mine.locator(".conflict")
    expect(conflict).to_contain_text("owner saved revision 2 while you were writing")
    expect(conflict).to_contain_text("yours is not there until it is saved")
    expect(conflict.locator("ins").first).to_have_text("My question")
    expect(conflict.locator("del").first).to_contain_text("Where")
    expect(conflict.locator(".clash__side").nth(1)).to_contain_text("Their")
    conflict.get_by_role("button", name="Save the merged task").click(force=True)
    expect(mine.locator(".toast--danger").last).to_contain_text("Choose for every turn")
    conflict.get_by_role("radio", name=choice).check()
    conflict.get_by_role("button", name="Save the merged task").click()
    expect(conflict).to_have_count(0)
    expect(mine.locator(".editor__state")).to_have_text(
        "Revision 2" if choice == "Take owner's" else "Revision 3"
    )
    said = [each["blocks"][0].get("text") for each in stored(task)]
    assert said[: len(kept)] == kept


def test_a_conflict_can_be_left_to_go_on_writing(
    cast: Cast, task: Task, open_page: OpenPage
) -> None:
    mine = editor(open_page("author", f"{TASKS}{task.pk}/"))
    theirs = editor(open_page("owner", f"{TASKS}{task.pk}/"))
    text_of(theirs, 0).fill("Their question")
    save(theirs)
    saved(theirs, 2)
    text_of(mine, 0).fill("My question")
    save(mine)
    mine.get_by_role("button", name="Go on writing").click()
    expect(text_of(mine, 0)).to_have_value("My question")
    assert task.revisions.count() == 2


def test_a_closed_tab_loses_nothing(cast: Cast, task: Task, open_page: OpenPage) -> None:
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    text_of(page, 0).fill("not saved")
    page.get_by_role("textbox", name="Input of the call as JSON").fill('{"half": ')
    expect(page.locator(".editor__state")).to_contain_text("kept on this device")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.goto("/projects/")
    assert asked == ["beforeunload"]
    page.goto(f"{TASKS}{task.pk}/")
    expect(text_of(editor(page), 0)).not_to_have_value("not saved")
    page.get_by_role("button", name="Take it back").click()
    expect(text_of(page, 0)).to_have_value("not saved")
    expect(page.get_by_role("textbox", name="Input of the call as JSON")).to_have_value('{"half": ')


def test_a_draft_can_be_thrown_away(cast: Cast, task: Task, open_page: OpenPage) -> None:
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    page.on("dialog", lambda dialog: dialog.accept())
    text_of(page, 0).fill("not saved")
    expect(page.locator(".editor__state")).to_contain_text("kept on this device")
    page.reload()
    editor(page).get_by_role("button", name="Throw it away").click()
    page.reload()
    expect(editor(page).get_by_role("region", name="Unsaved draft")).to_have_count(0)


def test_a_draft_of_an_older_revision_is_merged_when_it_is_saved(
    cast: Cast, task: Task, open_page: OpenPage
) -> None:
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    page.on("dialog", lambda dialog: dialog.accept())
    text_of(page, 0).fill("from the draft")
    expect(page.locator(".editor__state")).to_contain_text("kept on this device")
    page.goto("/projects/")
    theirs = editor(open_page("owner", f"{TASKS}{task.pk}/"))
    text_of(theirs, 2).fill("from them")
    save(theirs)
    saved(theirs, 2)
    page.goto(f"{TASKS}{task.pk}/")
    editor(page).get_by_role("button", name="Take it back").click()
    save(page)
    saved(page, 3)
    messages = stored(task)
    assert messages[0]["blocks"][0]["text"] == "from the draft"
    assert messages[2]["blocks"][0]["blocks"][0]["text"] == "from them"


def test_a_save_after_the_session_ended_loses_nothing(
    cast: Cast, task: Task, open_page: OpenPage
) -> None:
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    text_of(page, 0).fill("still here")
    session = next(each for each in page.context.cookies() if each["name"] == "sessionid")
    page.context.clear_cookies(name="sessionid")
    save(page)
    expect(page.locator(".toast--danger")).to_contain_text("You are signed out")
    expect(text_of(page, 0)).to_have_value("still here")
    page.context.add_cookies([{**session}])  # signed in again, in another tab
    save(page)
    saved(page, 2)


def test_a_save_without_the_server_loses_nothing(
    cast: Cast, task: Task, open_page: OpenPage
) -> None:
    page = editor(open_page("author", f"{TASKS}{task.pk}/"))
    text_of(page, 0).fill("still here")
    page.context.set_offline(True)
    save(page)
    expect(page.locator(".toast--danger")).to_contain_text("The server cannot be reached")
    page.context.set_offline(False)
    save(page)
    saved(page, 2)
