"""Importing: the preview tells the truth, and nothing is kept before it is accepted."""

import json
import os
import re
import time
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.accounts.errors import Gone
from apps.accounts.models import AuditEntry
from apps.studio import held_files
from apps.tasks.models import Environment, Split, Task
from tests.cast import Cast
from tests.factories import make_content
from tests.studio.visitors import Visitor, tags, words

pytestmark = pytest.mark.django_db

IMPORT = "/projects/alpha/environments/shop/import/"

ROWS = "\n".join(
    json.dumps(row)
    for row in (
        {"id": "q1", "question": "The capital of Austria?", "target": "Vienna"},
        {"messages": [{"role": "user", "content": "Hello"}], "id": 7},
        {"id": "q3", "conversation": make_content()["messages"], "target": "depot"},
        {"id": "q4", "nothing": "to ask"},
    )
)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.VAR = tmp_path


@pytest.fixture
def client(visit: Visitor, environment: Environment) -> Client:
    return visit("author")


def pasted(text: str, **changes: Any) -> dict[str, Any]:
    return {"text": text, "split": "train", "format": "auto", **changes}


def preview_of(client: Client, form: dict[str, Any]) -> Any:
    """What is shown once a form was sent: its preview, or the form with what is wrong in it."""
    return client.post(IMPORT, form, follow=True)


def accept(client: Client, preview: Any) -> Any:
    return client.post(IMPORT, preview.context["form"].initial)


def test_the_page_names_the_formats_it_reads(client: Client) -> None:
    page = words(client.get(IMPORT))
    assert "canonical" in page
    assert "openai_chat" in page


def test_a_preview_shows_what_every_row_becomes_and_keeps_nothing(
    client: Client, environment: Environment
) -> None:
    before = AuditEntry.objects.count()
    preview = preview_of(client, pasted(ROWS))
    page = words(preview)
    assert "Import 3 tasks" in page
    assert "Nothing is kept yet" in page
    ledger = preview.context["shown"].ledger
    assert (ledger.read, ledger.created, ledger.refused) == (4, 3, 1)
    assert "the row has no conversation" in page
    assert "the text became a user message" in page
    assert "The capital of Austria?" in page
    assert not Task.objects.exists()
    assert not environment.splits.exists()
    assert AuditEntry.objects.count() == before


def test_refused_rows_stand_first(client: Client) -> None:
    preview = preview_of(client, pasted(ROWS))
    first = preview.context["shown"].lines[0]
    assert (first.outcome, first.line) == ("refused", 4)


def test_accepting_does_what_the_preview_said(client: Client, environment: Environment) -> None:
    done = accept(client, preview_of(client, pasted(ROWS)))
    assert "Imported 3 tasks" in words(done)
    assert "the row has no conversation" in words(done)
    assert [task.key for task in Task.objects.order_by("position")] == ["q1", "7", "q3"]
    assert environment.splits.get().name == "train"


def test_a_file_is_as_good_as_a_paste(client: Client) -> None:
    file = SimpleUploadedFile("rows.jsonl", ROWS.encode())
    preview = preview_of(client, {"file": file, "split": "train", "format": "auto"})
    assert "rows.jsonl" in words(preview)
    accept(client, preview)
    assert Task.objects.count() == 3


def test_a_preview_has_an_address_to_come_back_to(client: Client) -> None:
    sent = client.post(IMPORT, pasted(ROWS, split="dev", update="on"))
    assert sent.status_code == 302
    for _ in range(2):
        preview = client.get(sent["Location"])
        assert "Import 3 tasks" in words(preview)
        assert preview.context["wanted"].split == "dev"
        assert preview.context["wanted"].update is True
    assert not Task.objects.exists()


def test_choosing_another_keeps_what_was_pasted(client: Client, visit: Visitor) -> None:
    preview = preview_of(client, pasted(ROWS, split="dev", format="auto", update="on"))
    back = next(tag for tag in tags(preview, "a") if 'class="button"' in tag)
    address = unescape(re.search(r'href="([^"]*)"', back)[1])  # type: ignore[index]
    form = client.get(address).context["form"]
    assert form["text"].value() == ROWS
    assert (form["split"].value(), form["update"].value()) == ("dev", True)
    assert visit("owner").get(address).status_code == 410


@pytest.mark.parametrize("query", ["preview=", "preview=&token=x", "preview=&token=x&split=a"])
def test_an_address_that_is_no_preview_is_refused(client: Client, query: str) -> None:
    assert client.get(f"{IMPORT}?{query}").status_code == 422


def test_an_accepted_preview_cannot_be_accepted_twice(client: Client) -> None:
    preview = preview_of(client, pasted(ROWS))
    accept(client, preview)
    again = accept(client, preview)
    assert again.status_code == 410
    assert "Choose it again" in words(again)
    assert Task.objects.count() == 3


def test_a_preview_belongs_to_who_made_it(client: Client, visit: Visitor) -> None:
    preview = preview_of(client, pasted(ROWS))
    assert accept(visit("owner"), preview).status_code == 410
    assert not Task.objects.exists()


@pytest.mark.parametrize("token", ["../../secrets/secret-key", "x", "a/b", "ü"])
def test_a_token_of_ones_own_making_opens_nothing(client: Client, token: str) -> None:
    preview = preview_of(client, pasted(ROWS))
    form = {**preview.context["form"].initial, "token": token}
    assert client.post(IMPORT, form).status_code == 410


def test_the_same_file_again_changes_nothing(client: Client) -> None:
    accept(client, preview_of(client, pasted(ROWS)))
    preview = preview_of(client, pasted(ROWS))
    assert "every good row is there already" in words(preview)
    assert "Import 0" not in words(preview)
    assert preview.context["shown"].ledger.unchanged == 3


def test_other_content_under_a_known_key_is_refused_unless_updates_are_wanted(
    client: Client,
) -> None:
    accept(client, preview_of(client, pasted(ROWS)))
    changed = json.dumps({"id": "q1", "question": "The capital of Japan?", "target": "Tokyo"})
    refused = preview_of(client, pasted(changed))
    assert "is there already, with other content" in words(refused)
    preview = preview_of(client, pasted(changed, update="on"))
    assert preview.context["shown"].ledger.updated == 1
    assert Task.objects.get(key="q1").revisions.count() == 1
    accept(client, preview)
    assert Task.objects.get(key="q1").revisions.count() == 2


def test_a_key_in_another_split_is_named_in_the_preview(client: Client, split: Split) -> None:
    accept(client, preview_of(client, pasted(ROWS)))
    preview = preview_of(client, pasted(ROWS, split="test"))
    assert "is in the split 'train' already" in words(preview)


def test_a_line_that_is_not_json_is_refused_with_its_number(client: Client) -> None:
    preview = preview_of(client, pasted(ROWS + "\n{broken"))
    line = next(each for each in preview.context["shown"].lines if each.line == 5)
    assert line.outcome == "refused"


@pytest.mark.parametrize(
    ("form", "field", "said"),
    [
        (pasted(""), "file", "Choose a file, or paste rows below."),
        (pasted("  \n "), "file", "Choose a file, or paste rows below."),
        (pasted(ROWS, format="docx"), "format", "docx"),
        (pasted(ROWS, split=" bad\u0007name"), "split", "begins with a letter or a digit"),
        (pasted(ROWS, split=""), "split", "required"),
    ],
)
def test_what_cannot_be_imported_is_refused_beside_its_field(
    client: Client, form: dict[str, Any], field: str, said: str
) -> None:
    response = preview_of(client, form)
    assert response.status_code == 422
    assert said in str(response.context["form"].errors[field])


def test_a_file_and_a_paste_at_once_are_one_too_many(client: Client) -> None:
    file = SimpleUploadedFile("rows.jsonl", ROWS.encode())
    response = preview_of(client, {**pasted(ROWS), "file": file})
    assert response.status_code == 422
    assert "send one of the two" in words(response)


def test_an_empty_file_is_said_to_be_empty(client: Client) -> None:
    file = SimpleUploadedFile("empty.jsonl", b"")
    response = preview_of(client, {"file": file, "split": "train", "format": "auto"})
    assert response.status_code == 422
    rows = SimpleUploadedFile("blank.jsonl", b"[]")
    response = preview_of(client, {"file": rows, "split": "train", "format": "auto"})
    assert "There are no rows in blank.jsonl." in words(response)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00binary", b"[1, 2", b"\x00" * 50, b'"text"'])
def test_bytes_that_are_no_rows_are_refused_row_by_row(client: Client, content: bytes) -> None:
    file = SimpleUploadedFile("odd.bin", content)
    response = preview_of(client, {"file": file, "split": "train", "format": "auto"})
    assert response.status_code in {200, 422}
    assert "Import 1 task" not in words(response)
    assert not Task.objects.exists()


def test_held_files_are_forgotten_after_a_day_when_the_next_one_comes(
    cast: Cast, tmp_path: Path
) -> None:
    old, young = (held_files.hold(cast.author.pk, [text]) for text in (b"old", b"young"))
    for token, hours in ((old, 25), (young, 23)):
        moment = time.time() - hours * 3600
        os.utime(tmp_path / "imports" / f"{cast.author.pk}-{token}", (moment, moment))
    held_files.hold(cast.owner.pk, [b"new"])
    with held_files.open_held(cast.author.pk, young) as file:
        assert file.read() == b"young"
    with pytest.raises(Gone):
        held_files.open_held(cast.author.pk, old)
    assert len(list((tmp_path / "imports").iterdir())) == 2


def test_a_held_file_that_another_process_has_just_removed_stops_no_import(
    cast: Cast, tmp_path: Path
) -> None:
    held_files.hold(cast.author.pk, [b"first"])
    (tmp_path / "imports" / "listed-and-gone").symlink_to(tmp_path / "nowhere")
    assert held_files.hold(cast.author.pk, [b"second"])


def test_an_annotator_imports_nothing(visit: Visitor, environment: Environment) -> None:
    assert visit("annotator").get(IMPORT).status_code == 403
    assert visit("annotator").post(IMPORT, pasted(ROWS)).status_code == 403
