"""The errors of the dialogue floor.

    DialogueError (ValueError)
    ├── InvalidMessage        a message or block breaks a rule of shape or placement
    ├── InvalidAttributes     a task's attributes hold a value that JSON cannot carry
    ├── PairingError          a tool call without its result, a result without its call, an id twice
    ├── ConversionRefused     a provider's format cannot carry what the conversation holds
    ├── ImportRefused         a line of a file cannot become a task
    ├── ScriptError           a script (a conversation as one text) cannot be read
    ├── SpecError             a solver, scorer or configuration is wrong
    ├── TemplateError         a template does not parse, or does not render for this sample
    ├── TraceError            a recorded trace cannot be read
    ├── IncompleteReply       a model answered, but not with a complete turn
    ├── LimitReached          a limit of the run forbids the next call
    └── ModelCallFailed       a model could not be asked, or its answer could not be read

Every error says in one short sentence what is wrong and where; ``place`` holds the where alone
(``messages[2].blocks[0].text``), so that a form or an API can point at it.
"""

from collections.abc import Sequence
from typing import Any


class DialogueError(ValueError):
    """Something a person or a program wrote is refused; nothing was changed."""

    def __init__(self, message: str, *, place: str = "") -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.message = message
        self.place = place


class InvalidMessage(DialogueError):
    pass


class InvalidAttributes(DialogueError):
    pass


class PairingError(DialogueError):
    pass


class ConversionRefused(DialogueError):
    pass


class ImportRefused(DialogueError):
    """A line of a file cannot become a task.

    ``roles`` is the sequence of roles as far as it was read, ? for one that is not known;
    ``code`` names the fault for programs, like ``unknown_role``.
    """

    def __init__(self, message: str, *, place: str = "", roles: str = "", code: str = "") -> None:
        super().__init__(message, place=place)
        self.roles = roles
        self.code = code


class ScriptError(DialogueError):
    """A script is refused at ``line`` and ``column``, both counted from 1."""

    def __init__(self, message: str, *, line: int, column: int) -> None:
        super().__init__(message, place=f"line {line}, column {column}")
        self.line = line
        self.column = column


class SpecError(DialogueError):
    """A specification is refused; ``problems`` are all the (place, message) that were found."""

    def __init__(
        self, message: str, *, place: str = "", problems: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__(message, place=place)
        self.problems = tuple(problems) or ((place, message),)


class TemplateError(DialogueError):
    pass


class TraceError(DialogueError):
    pass


class IncompleteReply(DialogueError):
    """A reply that must not become a turn.

    ``reason`` is one of ``length``, ``content_filter``, ``refusal``, ``empty``,
    ``unexpected_tool_call``, ``incomplete``; ``response`` is the provider's answer as received.
    """

    def __init__(self, reason: str, message: str, *, response: Any = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.response = response


class LimitReached(DialogueError):
    """Raised in place of a reply when turns, tokens, time or money of a run are used up."""


class ModelCallFailed(DialogueError):
    """A call that brought no reply.

    ``reason`` is one of ``timeout``, ``connection``, ``rate_limit``, ``context_window``,
    ``authentication``, ``bad_request``, ``server_error``, ``bad_response``, ``cancelled``.
    ``retry_after`` is how many seconds the provider asked to wait.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        status: int | None = None,
        response: Any = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.status = status
        self.response = response
        self.retry_after = retry_after
