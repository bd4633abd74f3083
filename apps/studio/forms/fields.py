"""Form fields that more than one form needs."""

import json
from typing import Any

from django import forms


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


class JsonTextField(forms.CharField):
    """A text that has to be a JSON object (``shape=dict``) or list (``shape=list``)."""

    def __init__(self, *, shape: type[dict[str, Any]] | type[list[Any]], **kwargs: Any) -> None:
        self.shape = shape
        kwargs.setdefault(
            "widget", forms.Textarea(attrs={"class": "input--mono", "spellcheck": "false"})
        )
        super().__init__(**kwargs)

    def clean(self, value: Any) -> Any:
        """The parsed value; an empty optional field is an empty one of its shape."""
        text = super().clean(value)
        if not text:
            return self.shape()
        try:
            parsed = json.loads(text, parse_constant=_no_constant)
        except json.JSONDecodeError as error:
            raise forms.ValidationError(
                f"This is not JSON: line {error.lineno}, column {error.colno}: {error.msg}."
            ) from None
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(f"This is not JSON: {error}.") from None
        if not isinstance(parsed, self.shape):
            wanted = "an object in braces" if self.shape is dict else "a list in brackets"
            raise forms.ValidationError(f"This has to be {wanted}.")
        return parsed


def json_shown(value: Any) -> str:
    """JSON as a form shows it, key order kept."""
    return json.dumps(value, indent=2, ensure_ascii=False)
