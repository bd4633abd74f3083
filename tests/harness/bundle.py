"""Two small environments in project ``kit``, as `manage.py load_bundle` takes them.

``riddles`` (the default one) has a terminal tool; ``counter`` has a scripted tool and a visible
``submit``.
"""

from typing import Any


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def says(role: str, *blocks: str | dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "blocks": [text(b) if isinstance(b, str) else b for b in blocks]}


def equals(value: str) -> dict[str, Any]:
    return {"type": "equals", "value": value}


PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5E"
    "rkJggg=="
)
KEYS_OUT_OF_ORDER = {"zebra": 1, "apple": {"pear": 2.0, "fig": None}, "n": 12345678901234567890}

RIDDLES = {
    "train": [
        {"id": "moon", "conversation": [says("user", "What lights the night?")]},
        {
            "id": "look-up",
            "conversation": [
                says("system", "Use the shelf.", "Answer briefly."),
                says("user", "Grüße! Where is the atlas? \N{BAR CHART} \u2028 end"),
                says(
                    "assistant",
                    {"type": "reasoning", "text": "Shelf first.", "signature": "c2ln"},
                    "One moment.",
                    {"type": "tool_call", "id": "c1", "name": "shelf", "input": KEYS_OUT_OF_ORDER},
                ),
                says(
                    "user",
                    {"type": "tool_result", "tool_call_id": "c1", "blocks": [text("row 4")]},
                ),
            ],
            "grader": {"type": "includes", "value": "row 4", "ignore_case": True},
        },
        {
            "id": "picture",
            "conversation": [
                says("user", "Show it."),
                says(
                    "assistant",
                    {"type": "tool_call", "id": "p1", "name": "camera", "input": {}},
                ),
                says(
                    "user",
                    {
                        "type": "tool_result",
                        "tool_call_id": "p1",
                        "blocks": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}],
                        "is_error": True,
                    },
                    text("What colour is it?"),
                ),
            ],
            "grader": equals("red"),
        },
    ],
    "test": [
        {
            "id": "capital",
            "conversation": [says("user", "Capital of Austria, one word?")],
            "grader": equals("Vienna"),
        },
        {
            "id": "digits",
            "conversation": [says("user", "Any number from 10 to 19?")],
            "grader": {"type": "regex", "value": r"\b1\d\b"},
        },
    ],
}
RESULTS = [
    {"input": {"id": "7302"}, "blocks": [text("held at the depot")]},
    {"input": {"id": "7302", "deep": {"b": 1, "a": [True, None]}}, "blocks": [text("deep")]},
    {"input": {"id": "spaces"}, "blocks": [text("a" + " " * 9000 + "b\n\u2028" + "  x" * 3000)]},
    {"input": {"id": "nothing"}, "blocks": []},
    {"input": {"id": "slow"}, "blocks": [text("slow")], "delay_ms": 600},
    {"input": {"id": "later"}, "blocks": [text("later")], "delay_ms": 5000},
    {"input": {"id": "crash"}, "raise": "the depot\nis on fire"},
]
COUNTER = [
    {"id": "sum", "conversation": [says("user", "What is 19 + 23?")], "grader": equals("42")},
    {
        "id": "lab",
        "conversation": [says("user", "Try the tools.")],
        "grader": equals("done"),
        "canned": {"find_order": RESULTS},
    },
]
FIND_ORDER = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "deep": {"type": "object"}},
    "required": ["id"],
}
SUBMIT = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}

BUNDLE: dict[str, Any] = {
    "format": "conversation-kit/1",
    "owner": "kit",
    "default_environment": "riddles",
    "environments": [
        {
            "name": "riddles",
            "description": "Closing messages are graded.",
            "splits": [{"name": "train", "type": "train"}, {"name": "test", "type": "test"}],
            "tools": [
                {
                    "name": "reply",
                    "kind": "terminal",
                    "argument": "text",
                    "description": "Grade the closing message.",
                }
            ],
            "score_group": True,
            "tasks": RIDDLES,
        },
        {
            "name": "counter",
            "description": "Tools at a counter.",
            "splits": [{"name": "test", "type": "test"}],
            "tools": [
                {
                    "name": "find_order",
                    "kind": "canned",
                    "description": "Find an order.",
                    "input_schema": FIND_ORDER,
                },
                {
                    "name": "submit",
                    "kind": "submit",
                    "argument": "answer",
                    "description": "Hand in the answer.",
                    "input_schema": SUBMIT,
                },
            ],
            "score_group": False,
            "tasks": {"test": COUNTER},
        },
    ],
}


def find(environment: str, key: str) -> tuple[str, int, dict[str, Any]]:
    """(split, index, task) of a task of the bundle."""
    tasks = RIDDLES if environment == "riddles" else {"test": COUNTER}
    return next(
        (split, index, task)
        for split, listed in tasks.items()
        for index, task in enumerate(listed)
        if task["id"] == key
    )
