"""What surrounds the pages, in Chromium: the palette, dialogs before a loss, going back."""

from typing import Any

import pytest
from playwright.sync_api import expect

from apps.accounts.queries import key_for
from tests.cast import Cast
from tests.runs.stage import Stage
from tests.studio.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SETTINGS = "/projects/alpha/settings/"
IMPORT = "/projects/alpha/environments/capitals/import/"


def test_the_palette_shows_only_what_was_typed(stage: Stage, open_page: OpenPage) -> None:
    stage.launch(evaluated=stage.endpoint("model", "echo"), name="Nightly")
    page = open_page("viewer", "/projects/alpha/")
    page.keyboard.press("Control+k")
    places = page.locator(".palette [role=option]:visible")
    expect(places.first).to_be_visible()
    assert places.count() > 5
    page.keyboard.type("nightly")
    expect(places).to_have_count(1)
    page.get_by_role("combobox", name="Go to").fill("capitals environment")
    expect(places).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url("**/projects/alpha/environments/capitals/")


def test_a_key_is_revoked_after_a_question(cast: Cast, open_page: OpenPage) -> None:
    name = cast.harness_key.row.name
    page = open_page("owner", SETTINGS)
    page.get_by_role("link", name=f"Revoke {name}", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("This cannot be undone")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert key_for(cast.harness_key.secret) is not None
    page.get_by_role("link", name=f"Revoke {name}", exact=True).click()
    dialog.get_by_role("button", name=f"Revoke {name}").click()
    expect(page.get_by_text("no longer opens anything")).to_be_visible()
    assert key_for(cast.harness_key.secret) is None


@pytest.mark.parametrize("script", [True, False])
def test_a_role_has_a_button_once_it_is_another(
    cast: Cast, open_page: OpenPage, live_server: Any, script: bool
) -> None:
    window = open_page("owner", SETTINGS).context
    context = window.browser.new_context(  # type: ignore[union-attr]
        java_script_enabled=script,
        storage_state=window.storage_state(),
        base_url=live_server.url,
    )
    page = context.new_page()
    page.goto(SETTINGS)
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="viewer"))
    change = row.get_by_role("button", name="Change")
    expect(change).to_be_hidden()
    row.get_by_role("combobox").select_option("annotator")
    change.click()
    expect(page.get_by_text("viewer is annotator now.")).to_be_visible()
    page.get_by_role("link", name="Remove viewer from the project").click()
    page.get_by_role("button", name="Remove viewer").click()
    expect(page.get_by_text("viewer is no longer a member.")).to_be_visible()
    context.close()


def test_tabs_do_not_scroll_up_and_down(stage: Stage, open_page: OpenPage) -> None:
    page = open_page("viewer", "/projects/alpha/environments/capitals/")
    tabs = page.locator(".tabs")
    tabs.evaluate("(tabs) => { tabs.scrollTop = 1; }")
    assert tabs.evaluate("(tabs) => [tabs.scrollTop, getComputedStyle(tabs).overflowY]") == [
        0,
        "clip",
    ]


def test_going_back_from_an_import_shows_what_became_of_it(
    stage: Stage, open_page: OpenPage
) -> None:
    page = open_page("author", IMPORT)
    page.get_by_label("Or paste a conversation").fill('{"id": "a", "question": "One?"}')
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Import 1 task").click()
    page.get_by_role("link", name="Show the tasks").click()
    page.wait_for_url("**/capitals/?split=*")
    for _ in range(2):
        page.go_back()
        expect(page.get_by_role("heading", name="Imported 1 task")).to_be_visible()
        expect(page.get_by_role("button", name="Import 1 task")).to_have_count(0)
