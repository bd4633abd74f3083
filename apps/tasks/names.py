"""What environments, splits and tasks may be called."""

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
LONGEST_SPLIT_NAME = 64


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
    return _printable(name, LONGEST_SPLIT_NAME, "A split's name", "name")


def check_task_key(key: str) -> str:
    """``key`` itself if a task may have it; else `Invalid` at ``key``."""
    return _printable(key, LONGEST_KEY, "A task's key", "key")


def _printable(text: str, longest: int, what: str, place: str) -> str:
    if not text or text != text.strip() or not text.isprintable():
        raise Invalid(
            f"{what} is visible text without spaces at its ends, not {text[:60]!a}.",
            place=place,
        )
    if len(text) > longest:
        raise Invalid(f"{what} has at most {longest} characters, not {len(text)}.", place=place)
    return text
