import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from apps.providers.models import ModelEndpoint
from apps.providers.secrets import decrypt
from tests.cast import Cast


def test_the_command_makes_an_endpoint_with_the_secret_of_a_variable(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_SECRET", "sk-1")
    call_command(
        "create_endpoint", "alpha", "gpt", "--base-url", "https://api.example.org/v1",
        "--model", "gpt-5", "--secret-env", "MY_SECRET", "--parameters", '{"temperature": 0}',
    )  # fmt: skip
    row = ModelEndpoint.objects.get(project=cast.project, key="gpt")
    assert (decrypt(row.secret), row.parameters) == ("sk-1", {"temperature": 0})
    assert "sk-1" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere", "gpt", "--base-url", "demo", "--model", "echo"], "no project 'nowhere'"),
        (["alpha", "gpt", "--base-url", "moon", "--model", "echo"], "base_url: 'moon' is not"),
        (["alpha", "gpt", "--base-url", "demo", "--model", "echo", "--secret-env", "NOT_SET_1"],
         "NOT_SET_1 is not set"),
        (["alpha", "gpt", "--base-url", "demo", "--model", "echo", "--parameters", "{"],
         "not JSON"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_by_name(cast: Cast, arguments: list[str], complaint: str) -> None:
    with pytest.raises(CommandError, match=complaint):
        call_command("create_endpoint", *arguments)
    assert not ModelEndpoint.objects.exists()
