"""Files out over the API: whole, or a problem that names what the format cannot carry."""

import io
import json

import pyarrow.parquet
import pytest

from apps.accounts.actions import create_api_key
from apps.accounts.permissions import OPERATOR
from apps.tasks.models import Split
from tests.api.callers import Caller, signed_in, with_key
from tests.cast import Cast
from tests.factories import make_content, make_task, message

REASONING = {"type": "reasoning", "text": "Hm."}


@pytest.fixture
def shop(alpha: Caller, split: Split) -> Caller:
    """Two tasks: one of plain text, and one with reasoning in its second message."""
    make_task(split=split, key="plain", content=make_content(message("user", "Hi"), n=1))
    turns = [message("user", "Why?"), message("assistant", REASONING, "So.")]
    make_task(split=split, key="thought", content=make_content(*turns))
    return alpha.at("environments/shop/")


def test_the_canonical_export_is_lines(shop: Caller) -> None:
    for query in ("", "?format=canonical", "?format=openreward&on_loss=leave_out"):
        heard = shop.get(f"export/{query}")
        assert heard.status == 200
        assert heard.headers["Content-Type"] == "application/x-ndjson"
        assert heard.headers["Content-Disposition"] == 'attachment; filename="shop.jsonl"'
        assert [json.loads(line)["id"] for line in heard.body.splitlines()] == ["plain", "thought"]


def test_tables_are_files(shop: Caller) -> None:
    heard = shop.get("export/?format=csv")
    assert heard.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert heard.headers["Content-Disposition"].endswith('"shop.csv"')
    assert heard.body.splitlines()[0] == b"id,conversation,n,target,turnwright"
    heard = shop.get("export/?format=parquet")
    assert heard.headers["Content-Disposition"].endswith('"shop.parquet"')
    table = pyarrow.parquet.read_table(io.BytesIO(heard.body))
    assert table.column("id").to_pylist() == ["plain", "thought"]


def test_nothing_is_sent_of_an_export_that_is_refused(shop: Caller) -> None:
    heard = shop.get("export/?format=latticeflow_trace")
    assert heard.status == 422
    assert "Content-Disposition" not in heard.headers
    found = heard.problem
    assert "1 of 2 tasks" in found["detail"]
    assert "on_loss=leave_out" in found["detail"]
    (fault,) = found["problems"]
    assert fault["place"].startswith("task thought messages[1]")
    assert "reasoning" in fault["message"]


def test_what_cannot_be_carried_may_be_left_out_and_is_told(shop: Caller) -> None:
    heard = shop.get("export/?format=latticeflow_trace&on_loss=leave_out")
    assert heard.status == 200
    rows = [json.loads(line) for line in heard.body.splitlines()]
    assert [each["role"] for each in rows[1]["items"]] == ["user", "assistant"]
    told = [
        json.loads(x) for x in shop.get("export/losses/?format=latticeflow_trace").body.splitlines()
    ]
    assert [each["key"] for each in told[:-1]] == ["thought"]
    assert told[-1] == {"summary": {"tasks": 2, "rows": 1, "refused": 1, "losses": 1}}


@pytest.mark.parametrize(
    ("query", "status", "place"),
    [
        ("format=xml", 422, "format"),
        ("split=none", 404, "split"),
        ("status=gone", 422, "query.status"),
        ("on_loss=guess", 422, "query.on_loss"),
        ("on_los=refuse", 422, "query.on_los"),
    ],
)
def test_a_wrong_wish_is_a_problem(shop: Caller, query: str, status: int, place: str) -> None:
    heard = shop.get(f"export/?{query}")
    assert heard.status == status
    assert heard.problem["place"] == place


def test_an_export_is_forgotten_by_who_made_it_or_an_author(shop: Caller, cast: Cast) -> None:
    signed = {
        name: signed_in(getattr(cast, name)).at("projects/alpha/environments/shop/exports/")
        for name in ("viewer", "annotator", "author")
    }
    # A key of the same name as the one that exports: it is another caller all the same.
    reader, other = (
        with_key(
            create_api_key(
                actor=OPERATOR, project=cast.project, name="twin", scopes=["read"]
            ).secret
        ).at("projects/alpha/environments/shop/exports/")
        for _ in range(2)
    )
    callers = {**signed, "reader": reader, "other": other}

    def may_forget(maker: str, caller: str) -> bool:
        made = callers[maker].post("", {"format": "csv"})
        assert made.status == 201
        status = callers[caller].delete(f"{made.json['number']}/").status
        assert status in (204, 403)
        return status == 204

    assert may_forget("viewer", "viewer")
    assert may_forget("reader", "reader")
    assert may_forget("viewer", "author")
    assert not may_forget("author", "viewer")
    assert not may_forget("annotator", "viewer")
    assert not may_forget("viewer", "reader")
    assert not may_forget("reader", "other")
