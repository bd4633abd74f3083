import asyncio
import socket

import pytest
from pytest_django.fixtures import Settings

from apps.accounts.errors import Invalid
from apps.providers.addresses import GuardedResolver, RefusedAddress, check_base_url, check_ip

INSIDE = [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200",
    "0.0.0.0", "224.0.0.1", "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254",
    "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _strict(settings: Settings) -> None:
    settings.ALLOW_PRIVATE_ENDPOINTS = False


@pytest.mark.parametrize("address", INSIDE)
def test_an_address_inside_is_refused(address: str) -> None:
    with pytest.raises(RefusedAddress, match="ALLOW_PRIVATE_ENDPOINTS"):
        check_ip(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"])
def test_a_public_address_passes(address: str) -> None:
    check_ip(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/v1",
        "http://localhost/v1",
        "http://LOCALHOST./v1",
        "http://api.localhost/v1",
        "http://metadata.google.internal/v1",
        "http://127.1/v1",
        "http://2130706433/v1",
        "http://0x7f000001/v1",
        "http://0177.0.0.1/v1",
        "http://[::1]/v1",
        "http://[::ffff:10.0.0.1]/v1",
    ],
)
def test_a_base_url_inside_is_refused_however_it_is_written(url: str) -> None:
    with pytest.raises(Invalid) as refused:
        check_base_url(url)
    assert refused.value.place == "base_url"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example.org/v1",
        "ftp://example.org/v1",
        "file:///etc/passwd",
        "https://",
        "https://user:word@example.org/v1",
        "https://example.org/v1?key=1",
        "https://example.org/v1#top",
        "https://example.org:99999/v1",
        "https://exam ple.org/v1",
        "https://example.org/v1\n",
        "http://[::1/v1",
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(Invalid) as refused:
        check_base_url(url)
    assert refused.value.place == "base_url"


@pytest.mark.parametrize("url", ["demo", "https://api.example.org/v1", "http://93.184.216.34/v1"])
def test_what_may_be_called_passes(url: str) -> None:
    check_base_url(url)


def test_the_operator_may_allow_what_is_inside(settings: Settings) -> None:
    settings.ALLOW_PRIVATE_ENDPOINTS = True
    check_base_url("http://127.0.0.1:8000/v1")
    check_ip("169.254.169.254")


def test_a_name_that_leads_inside_is_refused_when_it_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The name is innocent; only the connection finds out where it leads."""

    async def resolve() -> None:
        resolver = GuardedResolver()
        loop = asyncio.get_running_loop()

        async def lies(*args: object, **kwargs: object) -> list[object]:
            address = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", 443))
            return [address]

        monkeypatch.setattr(loop, "getaddrinfo", lies)
        try:
            await resolver.resolve("innocent.example.org", 443, socket.AF_UNSPEC)
        finally:
            await resolver.close()

    with pytest.raises(RefusedAddress, match=r"10\.0\.0\.7"):
        asyncio.run(resolve())
