"""Many tasks in and out: rows are accounted for, files stream, a round trip is identity."""

import json
from typing import Any

import pytest

from apps.tasks.exporting import BATCH
from apps.tasks.models import Split, Task
from tests.api.callers import Caller, Heard
from tests.factories import conversation, make_content, make_task, message


@pytest.fixture
def shop(alpha: Caller, split: Split) -> Caller:
    return alpha.at("environments/shop/")


def send(shop: Caller, *rows: Any, query: str = "split=train", raw: bytes = b"") -> Heard:
    body = raw or b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    return shop.ask("POST", f"import/?{query}", body, media="application/x-ndjson")


def canonical(key: str, words: str = "Hi", **attributes: Any) -> dict[str, Any]:
    return {"id": key, "conversation": [message("user", words)], **attributes}


def test_good_rows_go_in_and_bad_ones_are_named(shop: Caller) -> None:
    chat = {"messages": [{"role": "user", "content": "Hello"}]}
    broken = {"id": "b", "conversation": [{"role": "robot", "blocks": []}]}
    heard = send(shop, canonical("a", target="x"), broken, chat)
    assert heard.status == 200
    ledger = heard.json
    assert (ledger["read"], ledger["created"], ledger["refused"]) == (3, 2, 1)
    assert [line["outcome"] for line in ledger["lines"]] == ["created", "refused", "created"]
    refused = ledger["lines"][1]
    assert refused["line"] == 2
    assert refused["notes"][-1]["place"] == "conversation[0].role"
    assert [each["status"] for each in shop.get("tasks/").json["items"]] == ["ready", "ready"]


def test_the_same_file_twice_changes_nothing(shop: Caller) -> None:
    rows = [canonical(f"t{number}") for number in range(3)]
    assert send(shop, *rows).json["created"] == 3
    again = send(shop, *rows).json
    assert (again["created"], again["unchanged"]) == (0, 3)


def test_other_content_under_a_known_key_needs_a_word(shop: Caller) -> None:
    send(shop, canonical("a", "One"), canonical("b"))
    refused = send(shop, canonical("a", "Two"), canonical("b")).json
    assert (refused["refused"], refused["unchanged"]) == (1, 1)
    updated = send(shop, canonical("a", "Two"), query="split=train&update=true").json
    assert updated["updated"] == 1


def test_a_file_of_nothing_is_a_problem_that_names_the_lines(shop: Caller) -> None:
    for query in ("split=train", "split=train&ledger=jsonl"):
        heard = send(shop, raw=b'{"a": NaN}\n[1]\nnot json\n', query=query)
        assert heard.status == 422
        found = heard.problem
        assert [each["place"].split()[:2] for each in found["problems"]] == [
            ["line", "1"],
            ["line", "2"],
            ["line", "3"],
        ]
    empty = shop.ask("POST", "import/?split=train")
    assert empty.status == 422
    assert "empty" in empty.problem["detail"]
    assert not Task.objects.exists()


def test_the_whole_ledger_comes_as_lines(shop: Caller) -> None:
    rows = [canonical(f"t{number}") for number in range(4)]
    heard = send(shop, *rows, {"id": 1}, query="split=train&ledger=jsonl")
    assert heard.headers["Content-Type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in heard.body.splitlines()]
    assert [line["outcome"] for line in lines[:5]] == ["created"] * 4 + ["refused"]
    assert lines[5]["summary"]["created"] == 4
    assert len(lines) == 6


@pytest.mark.parametrize("ledger", ["json", "jsonl"])
def test_a_dry_run_tells_all_and_keeps_nothing(shop: Caller, split: Split, ledger: str) -> None:
    make_task(split=split, key="there", content=make_content(message("user", "Mine")))
    query = f"split=train&dry_run=true&ledger={ledger}"
    heard = send(shop, canonical("new"), canonical("there"), query=query)
    assert heard.status == 200
    told = heard.json if ledger == "json" else json.loads(heard.body.splitlines()[-1])["summary"]
    assert (told["created"], told["refused"]) == (1, 1)
    assert [task.key for task in Task.objects.all()] == ["there"]
    split.refresh_from_db()
    assert split.task_count == 1


def test_a_json_array_is_a_file_too(shop: Caller) -> None:
    body = json.dumps([canonical("a"), canonical("b")]).encode()
    heard = shop.ask("POST", "import/?split=train", body)
    assert heard.json["created"] == 2


@pytest.mark.parametrize(
    ("query", "status", "place"),
    [
        ("", 422, "query.split"),
        ("split=none", 404, "split"),
        ("split=train&format=xml", 422, "format"),
        ("split=train&update=maybe", 422, "query.update"),
        ("split=train&ledger=xml", 422, "query.ledger"),
    ],
)
def test_a_wrong_wish_is_refused_before_anything_is_read(
    shop: Caller, query: str, status: int, place: str
) -> None:
    heard = send(shop, canonical("a"), query=query)
    assert heard.status == status
    assert heard.problem["place"] == place
    assert not Task.objects.exists()


def test_what_was_exported_imports_again_unchanged(shop: Caller, split: Split) -> None:
    content = make_content(*conversation(), zebra=1, apple=[{"b": 1.0, "a": None}], text="ü€😀")
    make_task(split=split, key="full", content={**content, "tags": ["x"]}, status="ready")
    make_task(split=split, key="second", status="ready")
    heard = shop.get("export/")
    assert heard.headers["Content-Disposition"] == 'attachment; filename="shop.jsonl"'
    first = json.loads(heard.body.splitlines()[0])
    assert list(first) == ["id", "conversation", "zebra", "apple", "text", "tags"]
    again = send(shop, raw=heard.body).json
    assert (again["unchanged"], again["read"]) == (2, 2)


def test_the_export_is_whole_in_order_and_filtered(shop: Caller) -> None:
    rows = [canonical(f"t{number}", f"Words {number}") for number in range(BATCH + 5)]
    send(shop, *rows)
    lines = [json.loads(line) for line in shop.get("export/?split=train").body.splitlines()]
    assert [line["id"] for line in lines] == [row["id"] for row in rows]
    assert shop.get("export/?status=draft").body == b""
    assert shop.get("export/?split=none").status == 404
    one = shop.get("tasks/?limit=1").json["items"][0]
    shop.patch(f"tasks/{one['id']}/", {"status": "archived"})
    assert len(shop.get("export/").body.splitlines()) == BATCH + 4
