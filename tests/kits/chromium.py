"""Which Chromium there is, and how it is started where nothing outside can be reached."""

import shutil
from typing import Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
FLAGS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def program() -> str | None:
    """The path of the first of `NAMES` on this machine."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)
