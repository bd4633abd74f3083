"""Make the README's pictures from the running product: `python -m tests.pictures URL PASSWORD`.

The server is a fresh `make run` with the demo project; the password is the one it printed.
"""

import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.kits.chromium import FLAGS, program

PICTURES = Path(__file__).resolve().parent.parent / "static" / "pictures"
SIZE = {"width": 1440, "height": 900}


def main(url: str, password: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=FLAGS)
        page = browser.new_page(viewport=SIZE, color_scheme="light", base_url=url)
        sign_in(page, password)
        page.goto("/projects/demo/environments/support/")
        page.get_by_role("link", name="late-parcel").click()
        page.get_by_role("heading", name="late-parcel").wait_for()
        page.wait_for_load_state("networkidle")
        page.screenshot(path=PICTURES / "editor.png")
        browser.close()


def sign_in(page: Page, password: str) -> None:
    page.goto("/accounts/login/")
    page.fill("input[name=login]", "admin")
    page.fill("input[name=password]", password)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: "login" not in address)


if __name__ == "__main__":
    main(*sys.argv[1:])
