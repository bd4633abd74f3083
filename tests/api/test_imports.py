"""Imports in steps and exports in the background, over the API."""

import gzip
import io
import json
from typing import Any

import pytest

from apps.tasks.models import Import, Split, Task
from tests.api.callers import Caller, Heard


@pytest.fixture
def shop(alpha: Caller, split: Split) -> Caller:
    return alpha.at("environments/shop/")


def propose(shop: Caller, *rows: Any, query: str = "split=train", raw: bytes = b"") -> Heard:
    body = raw or b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    media = "application/octet-stream"
    return shop.ask("POST", f"imports/?{query}", body, media=media)


def question(key: str) -> dict[str, str]:
    return {"id": key, "question": "Why?"}


def test_a_file_is_proposed_looked_at_accepted_and_undone(shop: Caller) -> None:
    heard = propose(shop, question("a"), {"nothing": 1}, query="split=train&file_name=r.jsonl")
    assert heard.status == 201
    made = heard.json
    assert (made["state"], made["created"], made["refused"]) == ("proposed", 1, 1)
    assert not Task.objects.exists()
    here = shop.at(f"imports/{made['number']}/")
    refused = here.get("ledger/?outcome=refused").json
    assert [(row["row"], row["line"]) for row in refused["items"]] == [(1, 2)]
    row = here.get("ledger/0/").json
    assert row["content"]["messages"][0]["blocks"][0]["text"] == "Why?"
    assert here.get("ledger/1/").json["content"] is None
    assert here.get("ledger/7/").status == 404
    done = here.post("accept/").json
    assert (done["state"], done["created"], done["can_be_undone"]) == ("done", 1, True)
    assert here.get("ledger/0/").status == 410
    assert here.delete().status == 409
    undone = here.post("undo/").json
    assert (undone["state"], undone["removed"]) == ("undone", 1)
    assert not Task.objects.exists()


def test_a_proposal_is_changed_and_discarded(shop: Caller) -> None:
    rows = b"ask,other\nWhy?,x\n"
    mapping = {"conversation": [{"role": "user", "content": "ask"}]}
    made = propose(shop, raw=rows, query="split=train&file_name=r.csv").json
    here = shop.at(f"imports/{made['number']}/")
    changed = here.patch(body={"mapping": mapping, "split": "test"}).json
    assert (changed["mapping"], changed["created"], changed["split"]) == (mapping, 1, "test")
    assert here.patch(body={"mapping": {"nonsense": 1}}).status == 422
    assert here.delete().status == 204
    assert here.get().status == 404
    assert not Import.objects.exists()


@pytest.mark.parametrize(
    ("query", "raw"),
    [
        ("split=train", b" \n"),
        ("split=train&format=nonsense", b"{}"),
        ("split=train&mapping=[1]", b"{}"),
        ("split=train&mapping={", b"{}"),
        ("split=no%20split", b"{}"),
        ("format=auto", b"{}"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(shop: Caller, query: str, raw: bytes) -> None:
    heard = propose(shop, query=query, raw=raw)
    assert heard.status == 422, heard.body
    assert heard.problem["detail"]
    assert not Import.objects.exists()


def test_imports_are_listed_in_pages(shop: Caller) -> None:
    numbers = [propose(shop, question("a")).json["number"] for _ in range(3)]
    first = shop.get("imports/?limit=2").json
    assert [each["number"] for each in first["items"]] == numbers[:0:-1]
    second = shop.get(f"imports/?limit=2&after={first['next']}").json
    assert ([each["number"] for each in second["items"]], second["next"]) == (numbers[:1], None)


def test_a_streamed_import_maps_columns_and_can_be_undone(shop: Caller) -> None:
    mapping = '{"conversation":[{"role":"user","content":"ask"}]}'
    heard = shop.ask(
        "POST",
        f"import/?split=train&file_name=r.csv&mapping={mapping}",
        b"ask\nWhy?\nHow?\n",
        media="text/csv",
    )
    assert (heard.status, heard.json["created"]) == (200, 2)
    undone = shop.post(f"imports/{heard.json['number']}/undo/").json
    assert undone["removed"] == 2


def test_an_export_is_made_fetched_and_forgotten(shop: Caller) -> None:
    propose(shop, question("a"))
    shop.post(f"imports/{Import.objects.get().pk}/accept/")
    made = shop.post("exports/", {"format": "openreward"})
    assert made.status == 201
    assert (made.json["state"], made.json["tasks"], made.json["rows"]) == ("done", 1, 1)
    here = shop.at(f"exports/{made.json['number']}/")
    file = here.get("file/")
    assert json.loads(file.body)["id"] == "a"
    assert "shop.jsonl" in file.headers["Content-Disposition"]
    assert here.get("losses/").json == {"items": [], "next": None}
    assert [each["number"] for each in shop.get("exports/").json["items"]] == [made.json["number"]]
    assert here.delete().status == 204
    assert here.get("file/").status == 404


@pytest.mark.parametrize(
    "wrong", [{"format": "nonsense"}, {"split": "none"}, {"on_loss": "cry"}, {"what": 1}]
)
def test_an_export_of_what_is_not_there_is_refused(shop: Caller, wrong: dict[str, Any]) -> None:
    assert shop.post("exports/", wrong).status == 422


def broken_off(shop: Caller, path: str, body: bytes, announced: int) -> Heard:
    """A body whose connection ends before the length that it was announced with."""
    response = shop.client.generic(
        "POST",
        shop.root + path,
        data=b"-",
        content_type="application/octet-stream",
        **{"CONTENT_LENGTH": str(announced), "wsgi.input": io.BytesIO(body)},
    )
    return Heard(response.status_code, response.content, response.headers)


LINES = b"".join(json.dumps(question(f"k{n}")).encode() + b"\n" for n in range(3000))


@pytest.mark.parametrize("name", ["r.jsonl", "r.csv", "r.jsonl.gz", "r.zip", "r.parquet", "r.json"])
def test_nothing_is_kept_of_a_file_to_hold_that_broke_off(shop: Caller, name: str) -> None:
    body = gzip.compress(LINES) if name.endswith(".gz") else LINES
    heard = broken_off(
        shop, f"imports/?split=train&file_name={name}", body[:-200], announced=len(body)
    )
    assert heard.status == 400
    assert f"broke off after {len(body) - 200} of {len(body)} bytes" in heard.problem["detail"]
    assert not Import.objects.exists()


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz"])
def test_a_stream_that_breaks_off_fails_and_can_be_undone(shop: Caller, name: str) -> None:
    body = gzip.compress(LINES) if name.endswith(".gz") else LINES
    # It ends with a row, and even with the file: only the announced length tells.
    heard = broken_off(shop, f"import/?split=train&file_name={name}", body, len(body) + 1000)
    assert heard.status == 400
    assert "broke off" in heard.problem["detail"]
    row = Import.objects.get()
    assert row.state == "failed"
    assert "broke off" in row.error
    assert row.created == Task.objects.count()
    if row.created:
        undone = shop.post(f"imports/{row.pk}/undo/").json
        assert undone["removed"] == row.created
    assert not Task.objects.exists()


def test_a_rehearsed_stream_that_breaks_off_is_refused(shop: Caller) -> None:
    path = "import/?split=train&dry_run=true&file_name=r.jsonl"
    heard = broken_off(shop, path, LINES[:50_000], announced=len(LINES))
    assert heard.status == 400
    assert not Import.objects.exists()
