"""Model endpoints in the studio: secrets go in and never come out."""

from decimal import Decimal
from typing import Any

import pytest

from apps.accounts.permissions import OPERATOR
from apps.providers.actions import create_endpoint
from apps.providers.models import ModelEndpoint
from apps.providers.queries import get_endpoint
from apps.providers.secrets import decrypt
from tests.cast import Cast
from tests.kits.fake_openai import FakeOpenAI
from tests.studio.visitors import HTMX, Visitor, words

pytestmark = pytest.mark.django_db

MODELS = "/projects/alpha/models/"
NEW = "/projects/alpha/new-model/"
SECRET = "sk-very-secret-0123456789"


def form(**changes: Any) -> dict[str, Any]:
    return {
        "key": "gpt",
        "base_url": "https://models.example/v1",
        "model": "gpt-5-mini",
        "api": "chat_completions",
        "secret": SECRET,
        "parameters": '{"temperature": 0}',
        "timeout_seconds": "30",
        "max_retries": "1",
        "price_input": "0.25",
        **changes,
    }


@pytest.fixture
def endpoint(cast: Cast) -> ModelEndpoint:
    return create_endpoint(
        actor=OPERATOR,
        project=cast.project,
        key="gpt",
        base_url="https://models.example/v1",
        model="gpt-5-mini",
        secret=SECRET,
    )


def test_without_models_the_page_says_how_to_try_without_a_key(visit: Visitor) -> None:
    page = words(visit("owner").get(MODELS))
    assert "No models yet" in page
    assert "demo" in page


def test_an_endpoint_is_made_from_the_form(visit: Visitor, cast: Cast) -> None:
    response = visit("owner").post(NEW, form(), follow=True)
    assert response.redirect_chain == [(f"{MODELS}gpt/", 302)]
    row = get_endpoint(OPERATOR, cast.project, "gpt")
    assert decrypt(row.secret) == SECRET
    assert row.parameters == {"temperature": 0}
    assert (row.timeout_seconds, row.max_retries) == (30, 1)
    assert row.price_input == Decimal("0.25")
    assert row.price_output is None
    assert row.requests_per_minute is None


def test_a_secret_is_shown_nowhere(visit: Visitor, endpoint: ModelEndpoint) -> None:
    client = visit("owner")
    for address in (MODELS, f"{MODELS}gpt/", "/projects/alpha/settings/"):
        page = client.get(address).content.decode()
        assert SECRET not in page
        assert endpoint.secret not in page
    refused = client.post(f"{MODELS}gpt/", form(secret="another-secret", timeout_seconds="no"))
    assert refused.status_code == 422
    assert "another-secret" not in refused.content.decode()


def test_an_empty_secret_keeps_the_stored_one(
    visit: Visitor, cast: Cast, endpoint: ModelEndpoint
) -> None:
    client = visit("owner")
    assert "One is stored" in words(client.get(f"{MODELS}gpt/"))
    client.post(f"{MODELS}gpt/", form(secret="", model="gpt-5"))
    row = get_endpoint(OPERATOR, cast.project, "gpt")
    assert (row.model, decrypt(row.secret)) == ("gpt-5", SECRET)
    client.post(f"{MODELS}gpt/", form(secret="", remove_secret="on"))
    assert not get_endpoint(OPERATOR, cast.project, "gpt").has_secret


def test_a_stored_secret_does_not_follow_to_another_host(
    visit: Visitor, endpoint: ModelEndpoint
) -> None:
    moved = form(secret="", base_url="https://elsewhere.example/v1")
    response = visit("owner").post(f"{MODELS}gpt/", moved)
    assert response.status_code == 422
    assert "enter the secret again" in str(response.context["form"].errors["secret"])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"key": "a b"}, "key"),
        ({"base_url": "models.example"}, "base_url"),
        ({"base_url": "ftp://models.example"}, "base_url"),
        ({"model": ""}, "model"),
        ({"secret": "two words"}, "secret"),
        ({"parameters": "{"}, "parameters"),
        ({"parameters": "[]"}, "parameters"),
        ({"parameters": '{"messages": []}'}, "parameters"),
        ({"timeout_seconds": "0"}, "timeout_seconds"),
        ({"timeout_seconds": "99999"}, "timeout_seconds"),
        ({"max_retries": "99"}, "max_retries"),
        ({"requests_per_minute": "99999999999"}, "requests_per_minute"),
        ({"price_input": "-1"}, "price_input"),
        ({"price_input": "NaN"}, "price_input"),
        ({"api": "telepathy"}, "api"),
    ],
)
def test_what_cannot_be_is_refused_beside_its_field(
    visit: Visitor, change: dict[str, str], field: str
) -> None:
    response = visit("owner").post(NEW, form(**{"secret": "", **change}))
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]


def test_everything_wrong_is_marked_at_once(visit: Visitor) -> None:
    wrong = form(key="a b", base_url="nowhere", secret="", price_input="-1", parameters='{"n": 2}')
    response = visit("owner").post(NEW, wrong)
    assert set(response.context["form"].errors) == {
        "key",
        "base_url",
        "price_input",
        "parameters",
    }


def test_a_secret_that_was_typed_on_a_refused_page_is_asked_for_again(
    visit: Visitor, cast: Cast
) -> None:
    refused = visit("owner").post(NEW, form(base_url="nowhere"))
    page = words(refused)
    assert "Type the secret again" in page
    assert SECRET not in refused.content.decode()
    without = visit("owner").post(NEW, form(base_url="nowhere", secret=""))
    assert "Type the secret again" not in words(without)
    create_endpoint(
        actor=OPERATOR, project=cast.project, key="old", base_url="https://a.example/v1", model="m"
    )
    assert "Type the secret again" in words(visit("owner").post(f"{MODELS}old/", form(model="")))


def test_a_key_that_is_taken_is_refused(visit: Visitor, endpoint: ModelEndpoint) -> None:
    response = visit("owner").post(NEW, form())
    assert response.status_code == 422
    assert "already" in str(response.context["form"].errors["key"])


def test_scripted_models_are_called_scripted(visit: Visitor, cast: Cast) -> None:
    create_endpoint(actor=OPERATOR, project=cast.project, key="try", base_url="demo", model="echo")
    assert "try scripted" in words(visit("viewer").get(MODELS))
    assert "No model answers here" in words(visit("owner").get(f"{MODELS}try/"))


def test_a_test_asks_once_and_shows_the_reply_in_place(
    visit: Visitor, cast: Cast, server: FakeOpenAI
) -> None:
    create_endpoint(
        actor=OPERATOR, project=cast.project, key="e", base_url=server.url, model="echo"
    )
    response = visit("owner").post(f"{MODELS}e/test/", headers=HTMX)
    assert "answers" in words(response)
    assert "Reply with the one word OK." in words(response)
    assert "<html" not in response.content.decode()
    assert len(server.requests) == 1


def test_a_test_that_fails_says_why(visit: Visitor, cast: Cast) -> None:
    create_endpoint(
        actor=OPERATOR,
        project=cast.project,
        key="gone",
        base_url="http://127.0.0.1:1/v1",
        model="m",
    )
    response = visit("owner").post(f"{MODELS}gone/test/", headers=HTMX)
    assert response.status_code == 200
    assert "connection" in words(response)
    plain = visit("owner").post(f"{MODELS}gone/test/", follow=True)
    assert "gone did not answer" in words(plain)


def test_an_endpoint_that_was_put_away_is_gone_from_the_list(
    visit: Visitor, endpoint: ModelEndpoint
) -> None:
    response = visit("owner").post(f"{MODELS}gpt/archive/", follow=True)
    assert "put away" in words(response)
    assert visit("owner").get(f"{MODELS}gpt/").status_code == 404
    endpoint.refresh_from_db()
    assert endpoint.secret == ""
