"""Folders of what people brought: nobody but the installation's own user may look into them."""

from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder and those above it that are missing, each for its owner alone (0700)."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
