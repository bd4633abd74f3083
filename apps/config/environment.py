"""What the operator sets from outside, read once and checked by type.

Every name here is an environment variable (or a line of an ``.env``-like process manager). Nonsense
is refused at start with the variable's name; nothing is guessed.
"""

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

ROOT = Path(__file__).resolve().parent.parent.parent


class Environment(BaseSettings):
    """The operator's settings.

    ``debug`` has three states: unset means local use (one machine, secrets made under ``var/``,
    loopback model servers allowed), ``1`` adds Django's debug pages, ``0`` means production, where
    every secret has to be given.
    """

    model_config = SettingsConfigDict(env_file=None, extra="ignore", env_ignore_empty=True)

    debug: bool | None = None
    secret_key: str = ""
    encryption_keys: str = Field("", description="Fernet keys, newest first, comma separated")
    database_url: str = ""
    celery_broker_url: str = ""
    cache_url: str = ""
    allowed_hosts: str = "localhost,127.0.0.1,[::1]"
    csrf_trusted_origins: str = ""
    host: str = "127.0.0.1"
    port: int = Field(8000, ge=1, le=65535)
    web_workers: int = Field(2, ge=1, le=64)
    web_threads: int = Field(4, ge=1, le=64)
    public_url: str = Field(
        "", description="How people reach the studio; default from host and port"
    )
    https: bool = Field(False, description="Served over https: secure cookies and HSTS")
    allow_private_endpoints: bool | None = None
    run_lease_seconds: float = Field(
        30, ge=1, le=3600, description="After how long the samples of a dead worker are taken over"
    )
    turnwright_var: Path = ROOT / "var"
    openai_api_key: str = ""
    openai_base_url: str = "https://api.openai.com/v1"
    openai_model: str = "gpt-5-mini"
    log_level: str = "INFO"

    @field_validator("log_level")
    @classmethod
    def known_log_level(cls, value: str) -> str:
        if value.upper() not in {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}:
            raise ValueError("one of DEBUG, INFO, WARNING, ERROR, CRITICAL")
        return value.upper()

    @property
    def local(self) -> bool:
        """True unless the operator said ``DEBUG=0``: this machine alone, for its own people."""
        return self.debug is not False

    @property
    def own_url(self) -> str:
        """Where processes of this installation reach its web server."""
        host = "127.0.0.1" if self.host in {"0.0.0.0", "::", ""} else self.host  # noqa: S104
        return f"http://{host}:{self.port}"

    def secret(self, name: str, given: str, make: Any) -> str:
        """The given secret, or for local use one made once and kept under ``var/``."""
        if given or not self.local:
            return given
        path = self.turnwright_var / "secrets" / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write_once(path, make())
        return path.read_text(encoding="ascii").strip()


def _write_once(path: Path, text: str) -> None:
    """Two processes may start together: whoever links the finished file first has decided."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    draft.write_text(text, encoding="ascii")
    draft.chmod(0o600)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def database(url: str, var: Path) -> dict[str, Any]:
    """Django's DATABASES entry for ``sqlite:///path`` or ``postgresql://user:pass@host/name``."""
    parts = urlsplit(url or "sqlite:///")
    match parts.scheme:
        case "sqlite":
            return _sqlite(parts.path[1:], var)
        case "postgresql" | "postgres":
            return {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": unquote(parts.path.lstrip("/")),
                "USER": unquote(parts.username or ""),
                "PASSWORD": unquote(parts.password or ""),
                "HOST": unquote(parts.hostname or ""),
                "PORT": str(parts.port or ""),
                "CONN_MAX_AGE": 300,
                "CONN_HEALTH_CHECKS": True,
                "OPTIONS": dict(parse_qsl(parts.query)),
            }
        case other:
            raise ValueError(f"DATABASE_URL: {other!r} is not sqlite:///... or postgresql://...")


def _sqlite(path: str, var: Path) -> dict[str, Any]:
    """One writer at a time that waits its turn: WAL, immediate transactions, 20 s of patience."""
    file = Path(path) if path else var / "turnwright.sqlite3"
    if str(file) != ":memory:":
        file.parent.mkdir(parents=True, exist_ok=True)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(file),
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;"
                "PRAGMA cache_size=-32000; PRAGMA mmap_size=268435456; PRAGMA foreign_keys=ON;"
            ),
        },
    }


def cache(url: str) -> dict[str, Any]:
    """Django's CACHES entry: in the process by default, ``redis://...`` for several processes."""
    if not url:
        return {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    if urlsplit(url).scheme not in {"redis", "rediss", "unix"}:
        raise ValueError(f"CACHE_URL: {url!r} is not redis://...")
    return {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": url}


def broker(url: str, var: Path) -> str:
    """The broker's address: the one given, else the embedded one that `manage.py up` started."""
    if url:
        if urlsplit(url).scheme not in {"redis", "rediss", "amqp", "amqps", "memory", "unix"}:
            raise ValueError(f"CELERY_BROKER_URL: {url!r} is not redis://... or amqp://...")
        return url
    address = var / "run" / "broker-url"
    return address.read_text(encoding="ascii").strip() if address.exists() else ""
