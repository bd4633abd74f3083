"""The form of a model endpoint."""

from decimal import Decimal
from typing import Any

from django import forms

from apps.studio.forms.fields import JsonTextField, json_shown

CODE = {"class": "input--mono", "autocapitalize": "none", "spellcheck": "false"}
APIS = (("chat_completions", "Chat Completions"), ("responses", "Responses"))
SHOWN = (
    "display_name",
    "base_url",
    "model",
    "api",
    "timeout_seconds",
    "max_retries",
    "max_concurrent_requests",
    "requests_per_minute",
    "tokens_per_minute",
    "price_input",
    "price_cached_input",
    "price_output",
)

GIVEN = ("key", *SHOWN, "parameters", "secret")


def _price(label: str) -> forms.DecimalField:
    return forms.DecimalField(
        required=False, min_value=Decimal(0), max_digits=12, decimal_places=6, label=label
    )


def _limit(label: str, help_text: str = "") -> forms.IntegerField:
    return forms.IntegerField(required=False, min_value=1, label=label, help_text=help_text)


class EndpointForm(forms.Form):
    """Everything of an endpoint. The secret goes in and is never shown again."""

    key = forms.CharField(
        max_length=64,
        help_text="How specs and runs name this model.",
        widget=forms.TextInput(attrs=CODE),
    )
    display_name = forms.CharField(required=False, max_length=200)
    base_url = forms.CharField(
        max_length=500,
        label="Base URL",
        help_text="An OpenAI-compatible root like https://host/v1, or the word demo for the "
        "scripted endpoint of this server.",
        widget=forms.TextInput(attrs={**CODE, "inputmode": "url"}),
    )
    model = forms.CharField(
        max_length=200,
        label="Model name",
        help_text="As its provider calls it.",
        widget=forms.TextInput(attrs=CODE),
    )
    api = forms.ChoiceField(choices=APIS, label="API")
    secret = forms.CharField(
        required=False,
        max_length=4000,
        label="Secret",
        help_text="The provider's API key. Stored encrypted, never shown again.",
        widget=forms.PasswordInput(attrs={**CODE, "autocomplete": "off"}),
    )
    remove_secret = forms.BooleanField(required=False, label="Remove the stored secret")
    parameters = JsonTextField(
        shape=dict,
        required=False,
        help_text='Sent with every call, like {"temperature": 0}.',
        widget=forms.Textarea(attrs={**CODE, "rows": 3}),
    )
    timeout_seconds = forms.FloatField(initial=60, min_value=0.1, label="Timeout in seconds")
    max_retries = forms.IntegerField(
        initial=0,
        min_value=0,
        label="Retries",
        help_text="0: nothing is sent again by itself.",
    )
    max_concurrent_requests = _limit("Requests at once")
    requests_per_minute = _limit("Requests per minute")
    tokens_per_minute = _limit("Tokens per minute")
    price_input = _price("Input")
    price_cached_input = _price("Cached input")
    price_output = _price("Output")

    def __init__(self, *args: Any, endpoint: Any = None, **kwargs: Any) -> None:
        if endpoint is not None:
            kwargs.setdefault("initial", _initial(endpoint))
        super().__init__(*args, **kwargs)
        if endpoint is None:
            del self.fields["remove_secret"]
            return
        del self.fields["key"]
        if endpoint.has_secret:
            self.fields["secret"].help_text = "One is stored. Leave empty to keep it."
        else:
            del self.fields["remove_secret"]

    def given(self) -> dict[str, Any]:
        """The fields that are well formed so far, as the actions take them."""
        return {name: self.cleaned_data[name] for name in self.cleaned_data if name in GIVEN}

    def ask_for_the_secret_again(self) -> None:
        """A page never holds a secret: one that was typed is gone with the page that is refused."""
        if self.errors and "secret" not in self.errors and self.cleaned_data.get("secret"):
            self.add_error("secret", "Type the secret again: it is not kept on a refused page.")

    def settings(self) -> dict[str, Any]:
        """The cleaned fields as the actions take them; a kept secret is None."""
        wanted = dict(self.cleaned_data)
        remove = wanted.pop("remove_secret", False)
        if "key" not in wanted:
            wanted["secret"] = "" if remove else wanted["secret"] or None
        return wanted


def _initial(endpoint: Any) -> dict[str, Any]:
    shown = {name: getattr(endpoint, name) for name in SHOWN}
    return {**shown, "parameters": json_shown(endpoint.parameters)}
