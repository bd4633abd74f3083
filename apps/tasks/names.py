"""What environments, splits and tasks may be called."""

import re

from apps.accounts.actions import check_slug
from apps.accounts.errors import Invalid

# fmt: off
RESERVED_SLUGS = frozenset(
    {
        "account", "accounts", "admin", "api", "call", "create", "create_session", "delete",
        "delete_session", "demo", "docs", "favicon", "health", "help", "list_environments",
        "login", "logout", "media", "messages", "num_tasks", "ping", "projects", "prompt",
        "robots", "rollouts", "score_group", "session", "sessions", "settings", "splits",
        "static", "studio", "task", "task_range", "task_tools", "tasks", "tools", "v1", "v2",
        "version",
    }
)
# fmt: on
"""First words of addresses that are ours: an environment is served at ``/{slug}/...``."""

LONGEST_KEY = 200
SPLIT_NAME = re.compile(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")


def check_environment_slug(slug: str) -> str:
    """``slug`` itself if an environment may have it; else `Invalid` at ``slug``."""
    check_slug(slug, place="slug")
    if slug in RESERVED_SLUGS:
        raise Invalid(
            f"{slug!r} is a word of this server's own addresses; choose another.", place="slug"
        )
    return slug


def check_split_name(name: str) -> str:
    """``name`` itself if a split may have it; else `Invalid` at ``name``."""
    if not SPLIT_NAME.search(name):
        raise Invalid(
            "A split's name is 1 to 64 letters, digits, dots, hyphens or underscores and begins "
            f"with a letter or a digit; {name[:80]!a} is none.",
            place="name",
        )
    return name


def check_task_key(key: str) -> str:
    """``key`` itself if a task may have it; else `Invalid` at ``key``."""
    if not key or key != key.strip() or not key.isprintable():
        raise Invalid(
            f"A task's key is visible text without spaces at its ends, not {key[:60]!a}.",
            place="key",
        )
    if len(key) > LONGEST_KEY:
        raise Invalid(
            f"A task's key has at most {LONGEST_KEY} characters, not {len(key)}.", place="key"
        )
    return key
