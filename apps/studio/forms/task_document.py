"""What the task editor sends: JSON, read strictly, with its shape checked and nothing else."""

import json
from collections import Counter
from typing import Any, TypeVar

from django.http import HttpRequest
from pydantic import BaseModel, ConfigDict, ValidationError

from apps.accounts.errors import Invalid


class _Sent(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SavedDocument(_Sent):
    """A save. ``base`` is the revision the editor started from, 0 for a task not saved before.

    ``content`` is checked by the dialogue floor; an empty ``key`` lets a new task be given one.
    """

    base: int
    content: dict[str, Any]
    key: str
    split: str
    status: str
    message: str = ""


class PreviewedDocument(_Sent):
    """A conversation to look at in the shapes of ``formats``, without saving it."""

    content: dict[str, Any]
    formats: list[str] = []


Sent = TypeVar("Sent", bound=_Sent)


def read_sent(request: HttpRequest, shape: type[Sent]) -> Sent:
    """The body of the request; raises `Invalid` naming the place that is wrong."""
    try:
        value = json.loads(request.body, parse_constant=_no_constant, object_pairs_hook=_distinct)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise Invalid(f"What was sent is not JSON: {error}.", place="body") from None
    except Invalid:
        raise
    except ValueError:  # int() reads 4300 digits and no more
        raise Invalid("An integer has more digits than can be stored.", place="body") from None
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "body"
        raise Invalid(f"{place}: {first['msg']}.", place=place) from None


def _no_constant(word: str) -> Any:
    raise Invalid(f"{word} is not JSON.", place="body")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise Invalid(f"The key {ascii(twice)[:80]} stands twice in one object.", place="body")
    return made
