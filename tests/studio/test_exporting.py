"""Exporting: what a format cannot carry is said before, the file says what it holds."""

import json
from typing import Any

import pytest
from django.test import Client

from apps.studio.forms.exporting import ABOUT
from apps.studio.views import exporting
from apps.tasks.exporting import EXPORT_FORMATS
from apps.tasks.models import Export, Split
from tests.cast import Cast
from tests.factories import make_content, make_task, message
from tests.studio.visitors import HTMX, Visitor, words

pytestmark = pytest.mark.django_db

PLACE = "/projects/alpha/environments/shop/"
EXPORT = f"{PLACE}export/"
LOSSES = f"{EXPORT}losses/"
ANSWER = {"messages": [message("assistant", "Hello.")], "verdict": "chosen"}


@pytest.fixture
def client(visit: Visitor, split: Split) -> Client:
    return visit("viewer")


@pytest.fixture
def plain(split: Split) -> None:
    make_task(split=split, key="plain", content=make_content(message("user", "Hello?")))


@pytest.fixture
def judged(split: Split) -> None:
    """A task with something that OpenAI's chat format has no place for."""
    make_task(split=split, key="judged", content=with_candidates())


def with_candidates() -> dict[str, Any]:
    return make_content(message("user", "Hi")) | {"candidates": [ANSWER]}


def wanted(**changes: str) -> dict[str, str]:
    return {"format": "openreward", "split": "", "status": "", "on_loss": "refuse", **changes}


def exported(client: Client, **changes: str) -> Any:
    return client.post(EXPORT, wanted(**changes), follow=True)


def file_of(client: Client, page: Any) -> bytes:
    response = client.get(f"{PLACE}exports/{page.context['exported'].pk}/file/")
    assert response.status_code == 200
    return b"".join(response.streaming_content)  # type: ignore[arg-type]


def test_every_format_is_offered_and_says_what_it_is() -> None:
    assert set(ABOUT) == set(EXPORT_FORMATS)


def test_the_page_offers_formats_and_splits(client: Client) -> None:
    page = words(client.get(EXPORT))
    for said in ("OpenAI chat and fine-tuning", "Parquet", "train", "All but archived"):
        assert said in page


@pytest.mark.usefixtures("plain")
def test_an_export_is_a_page_with_a_file(client: Client) -> None:
    page = exported(client)
    assert "Every task is in the file, whole." in words(page)
    (row,) = [json.loads(line) for line in file_of(client, page).splitlines()]
    assert row["id"] == "plain"
    assert "shop.jsonl" in words(client.get(EXPORT))


@pytest.mark.usefixtures("plain", "judged")
def test_what_would_be_lost_is_said_before(client: Client) -> None:
    refused = words(client.get(LOSSES, wanted(format="openai_chat"), headers=HTMX))
    assert "1 of 2 tasks would be left out" in refused
    assert "judged" in refused
    assert "candidates" in refused
    left_out = wanted(format="openai_chat", on_loss="leave_out")
    assert "All 2 tasks would be written, without this" in words(client.get(LOSSES, left_out))
    assert "All 2 tasks fit whole" in words(client.get(LOSSES, wanted()))
    assert not Export.objects.exists()


@pytest.mark.usefixtures("plain", "judged")
def test_what_was_lost_is_listed_by_task(client: Client) -> None:
    refused = exported(client, format="openai_chat")
    assert "These tasks are not in the file" in words(refused)
    assert "Left out 1 task" in words(refused)
    assert len(file_of(client, refused).splitlines()) == 1
    cut = exported(client, format="openai_chat", on_loss="leave_out")
    assert "These tasks are in the file without it" in words(cut)
    assert len(file_of(client, cut).splitlines()) == 2


def test_many_losses_are_listed_page_by_page(
    client: Client, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "LOSSES_LISTED", 2)
    monkeypatch.setattr(exporting, "LOSSES_SHOWN", 2)
    for number in range(3):
        make_task(split=split, key=f"t{number}", content=with_candidates())
    before = words(client.get(LOSSES, wanted(format="openai_chat")))
    assert "More than 2 things cannot be carried" in before
    page = exported(client, format="openai_chat")
    assert "t1" in words(page)
    assert "t2" not in words(page)
    after = page.context["losses"].next
    address = f"{PLACE}exports/{page.context['exported'].pk}/?after={after}"
    assert "t2" in words(client.get(address))
    assert client.get(address.replace(str(after), "x")).status_code == 422


@pytest.mark.usefixtures("plain")
def test_where_there_is_no_time_to_look_at_all_tasks_that_is_said(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "LOOKED_FOR_SECONDS", -1.0)
    assert "The first 1 tasks fit whole" in words(client.get(LOSSES, wanted()))


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"format": "docx"}, "format"),
        ({"split": "nowhere"}, "split"),
        ({"status": "odd"}, "status"),
        ({"on_loss": "shrug"}, "on_loss"),
    ],
)
def test_what_cannot_be_exported_is_refused_beside_its_field(
    client: Client, changes: dict[str, str], field: str
) -> None:
    response = exported(client, **changes)
    assert (response.status_code, field in response.context["form"].errors) == (422, True)
    assert words(client.get(LOSSES, wanted(**changes))) == ""
    assert not Export.objects.exists()


@pytest.mark.usefixtures("plain")
def test_no_task_is_a_file_without_rows(client: Client) -> None:
    assert "There are no such tasks." in words(client.get(LOSSES, wanted(status="archived")))
    page = exported(client, status="archived")
    assert "the file has no rows" in words(page)
    assert file_of(client, page) == b""


@pytest.mark.usefixtures("plain")
def test_a_discarded_export_is_gone(client: Client) -> None:
    page = exported(client)
    place = f"{PLACE}exports/{page.context['exported'].pk}/"
    gone = client.post(f"{place}discard/", follow=True)
    assert "shop.jsonl is no longer kept" in words(gone)
    assert client.get(place).status_code == 404
    assert client.get(f"{place}file/").status_code == 404


@pytest.mark.usefixtures("plain")
def test_the_export_of_another_is_discarded_by_authors_alone(
    client: Client, visit: Visitor
) -> None:
    page = exported(visit("owner"))
    place = f"{PLACE}exports/{page.context['exported'].pk}/"
    assert "Discard" not in words(client.get(place))
    assert client.post(f"{place}discard/").status_code == 403
    assert "Discard" in words(visit("author").get(place))


@pytest.mark.usefixtures("plain")
def test_an_export_that_is_being_written_says_how_far_it_is(client: Client) -> None:
    page = exported(client)
    place = f"{PLACE}exports/{page.context['exported'].pk}/"
    ended = client.get(f"{place}progress/", headers=HTMX)
    assert (ended.status_code, ended["HX-Refresh"]) == (286, "true")
    Export.objects.update(state="writing", has_file=False, tasks=1, tasks_total=4)
    going = client.get(f"{place}progress/", headers=HTMX)
    assert (going.status_code, going.has_header("HX-Refresh")) == (200, False)
    assert "1 of 4 tasks" in words(going)
    assert "Download" not in words(client.get(place))


@pytest.mark.usefixtures("plain")
def test_a_failed_export_says_why_and_has_no_file(client: Client) -> None:
    page = exported(client)
    place = f"{PLACE}exports/{page.context['exported'].pk}/"
    Export.objects.update(state="failed", has_file=False, error="The disk is full.")
    said = words(client.get(place))
    assert "The disk is full." in said
    assert "Download" not in said
    assert "Every task is in the file" not in said


@pytest.mark.usefixtures("plain")
def test_an_export_of_another_project_is_not_there(
    client: Client, visit: Visitor, cast: Cast
) -> None:
    page = exported(client)
    place = f"{PLACE}exports/{page.context['exported'].pk}/"
    assert visit("outsider").get(place).status_code == 404
    assert visit("outsider").get(f"{place}file/").status_code == 404
