"""Importing in Chromium: pasted, corrected by keys, accepted, undone; files, and large ones."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from pytest_django.fixtures import Settings

from apps.tasks import doorbell
from apps.tasks.models import Environment, Import, Task
from tests.studio.conftest import OpenPage
from tests.studio.visitors import work_aside

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("environment"),
]

PLACE = "/projects/alpha/environments/shop/"
IMPORT = f"{PLACE}import/"
TALK = "Priya: My lamp flickers\nJoel: Which model?\nPriya: L2\nJoel: It goes back\n"
TABLE = "ticket,what they said,what we said\nT1,It broke,Sorry\nT2,Still broken,Sending one\n"
DROP = """(zone, [name, text]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  for (const kind of ["dragover", "drop"]) {
    zone.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer}));
  }
}"""


def chips(page: Page) -> list[str]:
    return [str(role) for role in page.locator("[data-turn]").evaluate_all(
        "(turns) => turns.map((turn) => turn.dataset.role)"
    )]  # fmt: skip


def accept_button(page: Page, tasks: str) -> Locator:
    return page.get_by_role("button", name=f"Import {tasks}")


def pasted(open_page: OpenPage, text: str, **options: Any) -> Page:
    """The proposal for a text that was pasted with the keyboard."""
    page = open_page("author", IMPORT, **options)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+v")
    expect(page.locator("#id_text")).to_have_value(text)
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/imports/*/")
    return page


def chosen(open_page: OpenPage, file: Path) -> Page:
    page = open_page("author", IMPORT)
    page.get_by_label("Drop a file here").set_input_files(file)
    expect(page.get_by_text(file.name)).to_be_visible()
    page.get_by_role("button", name="Preview").click()
    page.wait_for_url("**/imports/*/")
    return page


def test_a_transcript_is_pasted_corrected_accepted_and_undone_without_a_mouse(
    open_page: OpenPage,
) -> None:
    page = pasted(open_page, TALK)
    expect(page.locator("[data-turn]")).to_have_count(4)
    assert chips(page) == ["user", "assistant", "user", "assistant"]
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("1")
    turn = page.locator("[data-turn]").nth(1)
    expect(turn).to_have_attribute("data-role", "system")
    expect(turn).to_be_focused()
    assert chips(page) == ["user", "system", "user", "assistant"]
    page.keyboard.press("k")
    page.keyboard.press("Shift+R")
    expect(page.locator("[data-turn]").nth(2)).to_have_attribute("data-role", "assistant")
    assert chips(page) == ["assistant", "system", "assistant", "assistant"]
    expect(page.locator("[data-turn]").first).to_be_focused()
    assert not Task.objects.exists()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Imported 1 task")).to_be_visible()
    task = Task.objects.get()
    assert task.current is not None
    said = [message["role"] for message in json.loads(task.current.content)["messages"]]
    assert said == ["assistant", "system", "assistant", "assistant"]
    page.get_by_role("link", name="Show the tasks").click()
    expect(page.locator("#tasks tbody tr")).to_have_count(1)
    page.go_back()
    page.get_by_role("button", name="Undo this import").click()
    expect(page.get_by_role("heading", name="This import was undone")).to_be_visible()
    assert not Task.objects.exists()


def test_the_place_is_kept_while_a_role_changes(open_page: OpenPage) -> None:
    text = "".join(f"{'Priya' if n % 2 else 'Joel'}: turn number {n}\n" for n in range(120))
    page = pasted(open_page, text)
    for _ in range(60):
        page.keyboard.press("j")
    turn = page.locator("[data-turn]").nth(59)
    expect(turn).to_be_focused()
    scrolled = page.evaluate("window.scrollY")
    assert scrolled > 0
    page.keyboard.press("r")
    expect(turn).not_to_have_attribute("data-role", "user")
    expect(page.get_by_role("button", name="Take all corrections back")).to_have_count(1)
    expect(turn).to_be_focused()
    assert page.evaluate("window.scrollY") == pytest.approx(scrolled, abs=40)


def test_a_chip_is_changed_with_the_mouse_and_the_speaker_follows(open_page: OpenPage) -> None:
    page = pasted(open_page, TALK)
    page.get_by_label("Role of turn 1", exact=True).select_option("system")
    expect(page.locator("[data-turn]").first).to_have_attribute("data-role", "system")
    assert chips(page) == ["system", "assistant", "user", "assistant"]
    page.get_by_role("button", name="Give this role to all turns of Priya").first.click()
    expect(page.locator("[data-turn]").nth(2)).to_have_attribute("data-role", "system")
    page.get_by_role("button", name="Take all corrections back").click()
    expect(page.locator("[data-turn]").nth(2)).to_have_attribute("data-role", "user")


def test_a_dropped_file_is_held_and_can_be_taken_away(open_page: OpenPage) -> None:
    page = open_page("author", IMPORT)
    row = json.dumps({"id": "dropped", "question": "One?"})
    page.locator("[data-drop]").evaluate(DROP, ["one.jsonl", row])
    expect(page.get_by_text("one.jsonl")).to_be_visible()
    page.get_by_role("button", name="Take it away").click()
    expect(page.get_by_text("one.jsonl")).to_be_hidden()
    page.locator("main").evaluate(DROP, ["two.jsonl", row])
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="two.jsonl")).to_be_visible()
    expect(page.get_by_role("link", name="dropped", exact=True)).to_be_visible()


def test_what_is_wrong_with_the_form_is_said_in_it(open_page: OpenPage) -> None:
    page = open_page("author", IMPORT)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("Choose a file, or paste something.")).to_be_visible()
    page.get_by_label("Or paste a conversation").fill(TALK)
    page.get_by_role("button", name="Preview").click()
    page.wait_for_url("**/imports/*/")


@pytest.fixture
def with_workers(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation with workers, which come only when a test calls them."""
    settings.CELERY_BROKER_URL = "memory://"
    monkeypatch.setattr(doorbell, "ring", lambda job, pk: None)


@pytest.mark.usefixtures("with_workers")
def test_a_large_file_goes_on_in_the_background_and_the_page_finds_its_end(
    open_page: OpenPage, tmp_path: Path
) -> None:
    file = tmp_path / "large.jsonl"
    rows = ({"id": f"q{n}", "question": "Where is it? " * 30} for n in range(3000))
    file.write_text("\n".join(json.dumps(row) for row in rows))
    page = chosen(open_page, file)
    expect(page.get_by_text("It is being read.")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_be_visible()
    other = page.context.new_page()
    other.goto(PLACE)
    other.get_by_role("link", name=re.compile("large.jsonl")).click()
    other.wait_for_url("**/imports/*/")
    other.close()
    work_aside(Import.objects.get())
    accept_button(page, "3,000 tasks").click()
    expect(page.get_by_text(re.compile("of 3,000 rows"))).to_be_visible()
    work_aside(Import.objects.get())
    expect(page.get_by_role("heading", name="Imported 3,000 tasks")).to_be_visible()
    assert Task.objects.count() == 3000


def test_columns_of_a_table_are_mapped(open_page: OpenPage, tmp_path: Path) -> None:
    file = tmp_path / "tickets.csv"
    file.write_text(TABLE)
    page = chosen(open_page, file)
    expect(page.get_by_text("No row can become a task")).to_be_visible()
    page.get_by_label("ticket", exact=True).select_option("key")
    page.get_by_label("what they said", exact=True).select_option("user")
    page.get_by_label("what we said", exact=True).select_option("assistant")
    page.get_by_role("button", name="Use these columns").click()
    expect(accept_button(page, "2 tasks")).to_be_visible()
    assert chips(page) == ["user", "assistant"]
    page.get_by_text("As YAML, with expressions").click()
    field = page.get_by_label("Mapping")
    field.fill(field.input_value().replace("role: assistant", "role: system"))
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-turn]").nth(1)).to_have_attribute("data-role", "system")
    assert not Task.objects.exists()


def test_rows_are_walked_by_keys_and_the_address_says_where_one_is(open_page: OpenPage) -> None:
    rows = [{"id": f"q{n:02}", "question": f"Question {n}?"} for n in range(40)]
    page = pasted(open_page, "\n".join(json.dumps(row) for row in rows))
    page.keyboard.press("]")
    expect(page.get_by_role("heading", name="Row 2 of 40")).to_be_visible()
    page.wait_for_url("**/?row=1")
    page.keyboard.press("]")
    expect(page.get_by_role("heading", name="Row 3 of 40")).to_be_visible()
    page.keyboard.press("[")
    expect(page.get_by_role("heading", name="Row 2 of 40")).to_be_visible()
    page.get_by_role("link", name="q30", exact=True).click()
    expect(page.get_by_role("heading", name="Row 31 of 40")).to_be_in_viewport()
    expect(page.locator(".ledger-line--here")).to_be_in_viewport()
    page.keyboard.press("j")
    page.keyboard.press("1")
    expect(page.locator("[data-turn]").first).to_have_attribute("data-role", "system")
    expect(page.get_by_role("heading", name="Row 31 of 40")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Row 2 of 40")).to_be_visible()
    expect(page.get_by_role("heading", name="Ledger")).to_be_visible()


def test_a_correction_that_is_refused_leaves_the_page_as_it_is(
    open_page: OpenPage, environment: Environment
) -> None:
    page = pasted(open_page, TALK)
    Import.objects.all().delete()
    page.keyboard.press("j")
    page.keyboard.press("4")
    expect(page.locator("#toasts")).to_contain_text("There is no import")
    expect(page.locator("[data-turn]")).to_have_count(4)
