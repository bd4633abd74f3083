"""The studio's pages in Chromium: by keyboard, in both themes, live, and for everybody."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from playwright.sync_api import Page, expect

from apps.accounts.permissions import OPERATOR
from apps.dialogue.file_formats import read_tasks
from apps.runs.models import Run
from apps.tasks.actions import (
    accept_import,
    create_export,
    import_rows,
    propose_import,
    undo_import,
)
from apps.tasks.models import Environment, Export, Import, Task
from tests.cast import PASSWORD
from tests.factories import make_environment, make_split
from tests.runs.stage import CLARIFY, TWO_TURNS, Stage
from tests.studio.conftest import OpenPage
from tests.studio.visitors import play_aside

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DIST = Path(str(settings.DJANGO_VITE["default"]["manifest_path"])).parent
MOST_SCRIPT = 200 * 1024
SHIFTS = """() => {
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
  }).observe({type: "layout-shift", buffered: false});
}"""

PAGES = (
    "/projects/",
    "/studio/new-project/",
    "/projects/alpha/",
    "/projects/beta/",
    "/projects/alpha/new-environment/",
    "/projects/alpha/environments/capitals/",
    "/projects/alpha/environments/capitals/?q=nothing-like-it",
    "/projects/alpha/environments/empty/",
    "/projects/alpha/environments/talk/grading/",
    "/projects/alpha/environments/capitals/connect/",
    "/projects/alpha/environments/capitals/import/",
    "/projects/alpha/environments/capitals/imports/",
    "/projects/alpha/environments/talk/imports/",
    "/projects/alpha/environments/talk/export/",
    "/projects/alpha/environments/capitals/new-split/",
    "/projects/alpha/models/",
    "/projects/alpha/models/judge/",
    "/projects/alpha/new-model/",
    "/projects/alpha/solvers/",
    "/projects/alpha/solvers/clarify/",
    "/projects/alpha/new-solver/",
    "/projects/alpha/runs/",
    "/projects/alpha/runs/new/",
    "/projects/alpha/runs/1/",
    "/projects/alpha/runs/1/samples/0/",
    "/projects/alpha/runs/2/",
    "/projects/alpha/runs/2/samples/0/",
    "/projects/alpha/runs/3/samples/0/",
    "/projects/alpha/settings/",
    "/accounts/password/change/",
    "/accounts/logout/",
)


@pytest.fixture
def furnished(stage: Stage) -> Stage:
    """Two finished runs, one with failures; one that waits; a long list of tasks."""
    good = stage.launch(evaluated=stage.endpoint("model", "confirm-then-answer"), name="Good")
    bad = stage.launch(TWO_TURNS, evaluated=stage.endpoint("cut", "truncate"), trials=2)
    play_aside(good)
    play_aside(bad)
    stage.launch(evaluated="model", name="Waits")
    make_environment(project=stage.project, slug="empty")
    talk = make_environment(project=stage.project, slug="talk")
    split = make_split(environment=talk)
    import_rows(actor=OPERATOR, environment=talk, split=split, rows=read_tasks(rows_of_talk()))
    transfers_of(talk)
    return stage


def transfers_of(environment: Environment) -> None:
    """Imports of every state and two exports, one with losses."""

    def proposed(*texts: str) -> Import:
        return propose_import(
            actor=OPERATOR,
            environment=environment,
            pieces=["\n".join(texts).encode()],
            file_name="pasted text",
            split="brought",
        )

    pair = {"id": "pair", "prompt": "Name a gem.", "chosen": "Opal.", "rejected": "Mud."}
    proposed("Priya: Does it flicker? שלום\nJoel: " + "flicker" * 40 + "\nPriya: Yes")
    proposed(json.dumps(pair), json.dumps({"id": "none"}), "{broken", *map(str, range(60)))
    proposed("ticket,what they said\nT1,It broke\nT2,Still")
    done = accept_import(actor=OPERATOR, imported=proposed(json.dumps({**pair, "id": "kept"})))
    undone = accept_import(actor=OPERATOR, imported=proposed(json.dumps({**pair, "id": "gone"})))
    assert (done.state, undo_import(actor=OPERATOR, imported=undone).state) == ("done", "undone")
    for name in ("openreward", "openai_chat"):
        create_export(actor=OPERATOR, environment=environment, format=name)


def every_page() -> list[str]:
    """`PAGES`, and those of the imports and exports, whose numbers are not known before."""
    talk = "/projects/alpha/environments/talk"
    brought = [f"{talk}/imports/{row.pk}/" for row in Import.objects.order_by("pk")]
    taken = [f"{talk}/exports/{row.pk}/" for row in Export.objects.order_by("pk")]
    pair = Task.objects.get(key="kept")
    rows = [f"{brought[1]}?row=1", f"{brought[1]}?outcome=refused"]
    return [*PAGES, *brought, *rows, *taken, f"{talk}/tasks/{pair.pk}/"]


def rows_of_talk() -> list[bytes]:
    """Sixty conversations with what upsets a page: long words, other scripts, calls, pictures."""
    odd = ["supercalifragilistic" * 12, "שלום עולם, where is it?", "🦜🦜🦜 where?", "where " * 80]
    rows = [
        {"id": f"task-{number:02}", "question": f"Question {number}: where is my parcel?"}
        for number in range(56)
    ]
    rows += [{"id": f"odd-{number}", "question": text} for number, text in enumerate(odd)]
    return [json.dumps(row).encode() + b"\n" for row in rows]


def in_theme(page: Page, theme: str, path: str) -> None:
    origin = page.url.split("/", 3)
    address = "/".join(origin[:3])
    page.context.add_cookies([{"name": "theme", "value": theme, "url": address}])
    page.goto(path)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(furnished: Stage, open_page: OpenPage, theme: str) -> None:
    page = open_page("owner", "/projects/")
    found: dict[str, list[str]] = {}
    for path in every_page():
        in_theme(page, theme, path)
        page.wait_for_load_state("networkidle")
        results = Axe().run(page).response["violations"]
        faults = [
            f"{fault['id']}: {node['html'][:160]}" for fault in results for node in fault["nodes"]
        ]
        if faults:
            found[path] = faults
    assert found == {}, json.dumps(found, indent=2)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_before_the_door(
    furnished: Stage, open_page: OpenPage, theme: str
) -> None:
    page = open_page("owner", "/projects/")
    page.context.clear_cookies()
    in_theme(page, theme, "/accounts/login/")
    assert Axe().run(page).violations_count == 0, Axe().run(page).generate_report()


def test_no_page_is_wider_than_a_phone(furnished: Stage, open_page: OpenPage) -> None:
    page = open_page("owner", "/projects/", width=390, height=844)
    wide = {}
    for path in every_page():
        page.goto(path)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 390:
            wide[path] = width
    assert wide == {}


def test_no_page_loads_more_script_than_allowed(furnished: Stage, open_page: OpenPage) -> None:
    page = open_page("owner", "/projects/")
    for path in every_page():
        page.goto(path)
        page.wait_for_load_state("networkidle")
        names = page.evaluate(
            "performance.getEntriesByType('resource').map((e) => e.name)"
            ".filter((name) => name.endsWith('.js'))"
        )
        assert names, path
        files = [DIST / "assets" / name.rsplit("/", 1)[1] for name in names]
        weight = sum(len(gzip.compress(file.read_bytes())) for file in files)
        assert weight < MOST_SCRIPT, (path, weight)


def test_signing_in_needs_no_mouse(furnished: Stage, open_page: OpenPage) -> None:
    page = open_page("owner", "/projects/")
    page.context.clear_cookies()
    page.goto("/projects/alpha/runs/")
    expect(page.get_by_role("textbox", name="Name or e-mail address")).to_be_focused()
    page.keyboard.type("author")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Runs", level=1)).to_be_visible()


def test_a_list_is_walked_by_keys(furnished: Stage, open_page: OpenPage) -> None:
    page = open_page("viewer", "/projects/alpha/environments/talk/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="task-01")).to_be_focused()
    page.keyboard.press("Enter")
    task = Task.objects.get(key="task-01")
    page.wait_for_url(f"**/tasks/{task.pk}/")


def test_typing_a_search_keeps_the_field_and_the_address_says_where_one_is(
    furnished: Stage, open_page: OpenPage
) -> None:
    page = open_page("viewer", "/projects/alpha/environments/talk/")
    page.keyboard.press("/")
    field = page.get_by_role("searchbox")
    expect(field).to_be_focused()
    page.keyboard.type("question 42")
    expect(page.locator("#tasks tbody tr")).to_have_count(1)
    expect(field).to_be_focused()
    assert page.url.endswith("/talk/?q=question%2042")
    page.reload()
    expect(page.locator("#tasks tbody tr")).to_have_count(1)
    page.go_back()
    expect(page.locator("#tasks tbody tr")).to_have_count(50)


def test_the_next_page_comes_without_a_jump(furnished: Stage, open_page: OpenPage) -> None:
    page = open_page("viewer", "/projects/alpha/environments/talk/")
    columns = "[...document.querySelectorAll('#tasks th')].map((e) => e.getBoundingClientRect().x)"
    before = page.evaluate(columns)
    page.get_by_role("link", name="Next", exact=True).click()
    expect(page.get_by_role("link", name="task-50")).to_be_visible()
    assert page.evaluate(columns) == before
    page.get_by_role("combobox", name="Status").select_option("archived")
    expect(page.get_by_text("No task matches")).to_be_visible()


def test_the_theme_is_switched_and_remembered(furnished: Stage, open_page: OpenPage) -> None:
    page = open_page("viewer", "/projects/alpha/")
    switch = page.get_by_role("button", name="Dark theme")
    background = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(background)
    switch.click()
    dark = page.evaluate(background)
    assert light != dark
    page.goto("/projects/alpha/models/")
    assert page.evaluate(background) == dark
    expect(page.get_by_role("button", name="Dark theme")).to_have_attribute("aria-pressed", "true")


def test_the_palette_goes_anywhere(furnished: Stage, open_page: OpenPage) -> None:
    page = open_page("viewer", "/projects/alpha/")
    page.keyboard.press("Control+k")
    page.keyboard.type("solv")
    page.keyboard.press("Enter")
    page.wait_for_url("**/projects/alpha/solvers/")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/projects/alpha/runs/")


def test_the_menu_of_a_phone_opens_and_leads_on(furnished: Stage, open_page: OpenPage) -> None:
    page = open_page("viewer", "/projects/alpha/", width=390, height=844)
    runs = page.get_by_role("link", name="Runs", exact=True)
    expect(runs).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    runs.click()
    page.wait_for_url("**/projects/alpha/runs/")


def test_a_file_is_previewed_and_then_imported(
    furnished: Stage, open_page: OpenPage, tmp_path: Path
) -> None:
    file = tmp_path / "three.jsonl"
    rows: list[dict[str, Any]] = [
        {"id": "a", "question": "One?", "target": "1"},
        {"id": "b", "messages": [{"role": "user", "content": "Two?"}]},
        {"id": "c"},
    ]
    file.write_text("\n".join(json.dumps(row) for row in rows))
    page = open_page("author", "/projects/alpha/environments/empty/")
    page.get_by_role("link", name="Import tasks").click()
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("refused", exact=True).first).to_be_visible()
    assert not Task.objects.filter(key="a").exists()
    page.get_by_role("button", name="Import 2 tasks").click()
    page.get_by_role("link", name="Show the tasks").click()
    expect(page.locator("#tasks tbody tr")).to_have_count(2)


def test_a_run_is_launched_and_watched_without_losing_the_place(
    furnished: Stage, open_page: OpenPage
) -> None:
    page = open_page("author", "/projects/alpha/runs/new/")
    page.get_by_label("Name").fill("Watched")
    page.get_by_label("Solver").select_option("clarify@1")
    expect(page.get_by_label("Simulated user")).to_be_visible()
    page.get_by_label("Evaluated model").select_option("model")
    page.get_by_role("button", name="Launch run").click()
    page.wait_for_url("**/runs/4/")
    field = page.get_by_role("searchbox")
    field.fill("q")
    page.evaluate(SHIFTS)
    expect(page.get_by_role("button", name="Cancel run")).to_be_visible()
    play_aside(Run.objects.get(number=4))
    expect(page.locator("#run-facts").get_by_text("Finished")).to_be_visible()
    expect(page.locator("#samples").get_by_text("Vienna").first).to_be_visible()
    expect(page.get_by_role("button", name="Cancel run")).to_be_hidden()
    expect(field).to_be_focused()
    assert field.input_value() == "q"
    assert page.evaluate("window.shifted") < 0.02


def test_a_trace_is_read_by_keys(furnished: Stage, open_page: OpenPage) -> None:
    page = open_page("viewer", "/projects/alpha/runs/1/samples/0/")
    page.keyboard.press("j")
    page.wait_for_url("**/samples/1/")
    page.keyboard.press("k")
    page.wait_for_url("**/samples/0/")
    page.get_by_role("link", name="Raw").click()
    expect(page.locator(".raw").first).to_be_visible()
    page.keyboard.press("Escape")
    page.wait_for_url("**/runs/1/")


def test_a_mistake_in_a_solver_is_marked_while_it_is_written(
    furnished: Stage, open_page: OpenPage
) -> None:
    page = open_page("author", "/projects/alpha/solvers/clarify/")
    expect(page.locator("#spec-check").get_by_text("can be run")).to_be_visible()
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\nnonsense: 1")
    expect(page.locator("#spec-check .finding--error").first).to_be_visible()
    expect(page.locator(".cm-lint-marker-error").first).to_be_visible()
    page.get_by_role("button", name="Save as v2").click()
    expect(page.get_by_text("Not saved:")).to_be_visible()
    assert "nonsense: 1" in page.locator("textarea[name=text]").input_value()


def test_a_model_is_tested_in_place(furnished: Stage, open_page: OpenPage) -> None:
    page = open_page("owner", "/projects/alpha/models/")
    page.get_by_role("button", name="Test judge").click()
    expect(page.get_by_text("answers")).to_be_visible()
    page.get_by_role("button", name="Test cut").click()
    expect(page.get_by_text("length")).to_be_visible()


def test_a_new_key_is_copied_from_the_one_place_it_stands(
    furnished: Stage, open_page: OpenPage
) -> None:
    page = open_page("owner", "/projects/alpha/settings/")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_text("Make a key").click()
    page.get_by_role("textbox", name="Name", exact=True).fill("trainer")
    page.get_by_role("button", name="Make key").click()
    shown = page.locator("#new-key").inner_text()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == shown
    assert shown.startswith("tw_")


def test_everything_works_without_script(
    furnished: Stage, open_page: OpenPage, live_server: Any
) -> None:
    signed_in = open_page("author", "/projects/")
    context = signed_in.context.browser.new_context(  # type: ignore[union-attr]
        java_script_enabled=False,
        storage_state=signed_in.context.storage_state(),
        base_url=live_server.url,
    )
    page = context.new_page()
    page.goto("/projects/alpha/environments/talk/")
    page.get_by_role("searchbox").fill("question 42")
    page.keyboard.press("Enter")
    expect(page.locator("#tasks tbody tr")).to_have_count(1)
    page.goto("/projects/alpha/runs/new/?solver=clarify@1")
    page.get_by_role("button", name="Launch run").click()
    page.wait_for_url("**/runs/4/")
    page.get_by_role("button", name="Cancel run").click()
    assert page.get_by_text("No further request goes out").is_visible()
    page.goto("/projects/alpha/solvers/clarify/")
    page.locator("textarea[name=text]").fill(
        CLARIFY.replace("max_iterations: 3", "max_iterations: 5")
    )
    page.get_by_role("button", name="Save as v2").click()
    assert page.get_by_text("clarify v2 is the newest version.").is_visible()
    context.close()
