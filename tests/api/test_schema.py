"""The API describes itself: valid OpenAPI 3.1, as recorded, and readable offline under our CSP."""

from pathlib import Path

import pytest
import yaml
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.test import Client

GOLDEN = Path(__file__).parent.parent / "golden" / "openapi.yaml"


def test_the_schema_is_as_recorded(tmp_path: Path) -> None:
    """To record a wanted change: ``manage.py spectacular --file tests/golden/openapi.yaml``."""
    written = tmp_path / "openapi.yaml"
    call_command("spectacular", file=str(written), validate=True, fail_on_warn=True)
    assert written.read_text() == GOLDEN.read_text()


def test_every_operation_says_how_it_fails_and_who_may_ask() -> None:
    schema = yaml.safe_load(GOLDEN.read_text())
    assert schema["openapi"].startswith("3.1")
    operations = [each for path in schema["paths"].values() for each in path.values()]
    assert len({each["operationId"] for each in operations}) == len(operations) > 20
    for each in operations:
        assert "application/problem+json" in each["responses"]["default"]["content"]
        assert {"apiKey": []} in each["security"]
        assert {"bearerKey": []} in each["security"]
        assert each["summary"]


def test_block_types_are_told_apart_by_their_type() -> None:
    parts = yaml.safe_load(GOLDEN.read_text())["components"]["schemas"]
    union = parts["Message"]["properties"]["blocks"]["items"]
    assert union["discriminator"]["propertyName"] == "type"
    assert len(union["oneOf"]) == 5


@pytest.mark.django_db
def test_the_schema_is_served_as_yaml_and_json() -> None:
    client = Client()
    assert yaml.safe_load(client.get("/api/schema/").content)["info"]["version"] == "1"
    assert client.get("/api/schema/?format=json").json()["info"]["version"] == "1"


@pytest.mark.django_db
def test_the_docs_page_needs_no_inline_script_and_nothing_from_elsewhere() -> None:
    client = Client()
    page = client.get("/api/docs/")
    assert page.status_code == 200
    policy = page.headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    text = page.content.decode()
    assert "<script>" not in text
    assert "http" not in text
    script = client.get("/api/docs/?script=")
    assert script.headers["Content-Type"].startswith("application/javascript")
    assert finders.find("drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js")
