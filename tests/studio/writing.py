"""The task editor as a test sees it: its turns, its fields, what is stored."""

import json
from typing import Any

from playwright.sync_api import Locator, Page, expect

from apps.tasks.models import Task

TASKS = "/projects/alpha/environments/shop/tasks/"


def editor(page: Page) -> Page:
    expect(page.locator(".editor:not([aria-busy])")).to_be_visible()
    return page


def turns(page: Page) -> Locator:
    return page.locator(".ed-turn")


def text_of(page: Page, turn: int, block: int = 0) -> Locator:
    return turns(page).nth(turn).locator("[data-field=text]").nth(block)


def save(page: Page) -> None:
    page.keyboard.press("Control+Enter")


def saved(page: Page, number: int) -> None:
    expect(page.locator(".editor__state")).to_have_text(f"Revision {number}")


def stored(task: Task) -> list[dict[str, Any]]:
    task.refresh_from_db()
    assert task.current is not None
    messages: list[dict[str, Any]] = json.loads(task.current.content)["messages"]
    return messages


def roles(task: Task) -> list[str]:
    return [each["role"] for each in stored(task)]
