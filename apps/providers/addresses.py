"""Where a request may go: addresses inside our own network are refused unless the operator says so.

The name is checked when an endpoint is saved; what it resolves to is checked at every connection,
in the resolver that the connection uses, so that a name cannot point elsewhere between the two.
"""

import ipaddress
import socket
from urllib.parse import SplitResult, urlsplit

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from django.conf import settings

from apps.accounts.errors import Invalid

DEMO = "demo"
"""As a base URL: the scripted endpoint that this server carries."""

_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class RefusedAddress(OSError):
    """A connection to an address that the operator does not allow."""


def check_base_url(url: str, *, place: str = "base_url") -> None:
    """Raise `Invalid` unless ``url`` is ``demo`` or an http(s) root that may be called."""
    if url == DEMO:
        return
    parts = _split(url, place)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise Invalid(
            f"{url[:200]!r} is not an address like https://host/v1 (or the word demo).", place=place
        )
    if parts.username or parts.password:
        raise Invalid("An address holds no user name or password; use the secret.", place=place)
    if parts.query or parts.fragment:
        raise Invalid("An address ends with its path: no ? and no #.", place=place)
    try:
        check_host(parts.hostname)
    except RefusedAddress as error:
        raise Invalid(str(error), place=place) from None


def _split(url: str, place: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise Invalid(f"{url[:200]!r} is not an address: {error}.", place=place) from None
    if any(character.isspace() or not character.isprintable() for character in url):
        raise Invalid("An address holds no spaces or control characters.", place=place)
    return parts


def check_host(host: str) -> None:
    """Raise `RefusedAddress` for a literal address, or a name known to be local, inside."""
    if settings.ALLOW_PRIVATE_ENDPOINTS:
        return
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith((".localhost", ".internal", ".local")):
        raise RefusedAddress(_sentence(host))
    # What the C library reads as an address (127.1, 0x7f000001) is one, however it is written.
    try:
        check_ip(socket.inet_ntoa(socket.inet_aton(name)))
    except RefusedAddress:
        raise RefusedAddress(_sentence(host)) from None
    except OSError:
        _check_literal(name.strip("[]"), host)


def _check_literal(text: str, host: str) -> None:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return
    try:
        check_ip(text)
    except RefusedAddress:
        raise RefusedAddress(_sentence(host)) from None


def check_ip(text: str) -> None:
    """Raise `RefusedAddress` unless ``text`` is a public address."""
    if settings.ALLOW_PRIVATE_ENDPOINTS:
        return
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        address = _embedded(address) or address
    if not address.is_global or address.is_multicast:
        raise RefusedAddress(_sentence(text))


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for, if it does."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def _sentence(host: str) -> str:
    return (
        f"{host} is a private, local or metadata address; the operator allows those with "
        "ALLOW_PRIVATE_ENDPOINTS=1."
    )


class GuardedResolver(AbstractResolver):
    """Resolves names as usual and refuses those that lead inside."""

    def __init__(self) -> None:
        self._resolver = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        check_host(host)
        found = await self._resolver.resolve(host, port, family)
        for result in found:
            check_ip(result["host"])
        return found

    async def close(self) -> None:
        await self._resolver.close()
