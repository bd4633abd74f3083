"""Importing: the proposal tells the truth, nothing is kept before it is accepted, one undo."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.studio.forms.importing import mapping_of
from apps.tasks.models import Environment, Import, Split, Task
from tests.factories import make_content
from tests.studio.visitors import HTMX, Visitor, words

pytestmark = pytest.mark.django_db

PLACE = "/projects/alpha/environments/shop/"
IMPORT = f"{PLACE}import/"

ROWS = "\n".join(
    json.dumps(row)
    for row in (
        {"id": "q1", "question": "The capital of Austria?", "target": "Vienna"},
        {"messages": [{"role": "user", "content": "Hello"}], "id": 7},
        {"id": "q3", "conversation": make_content()["messages"], "target": "depot"},
        {"id": "q4", "nothing": 1},
    )
)
TALK = "Priya: My lamp flickers\nJoel: Which model?\nPriya: L2\n"

ALIASES = "a0: &a0 [x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
"""A few hundred characters of YAML that describe 31 billion values."""


@pytest.fixture
def client(visit: Visitor, environment: Environment) -> Client:
    return visit("author")


def pasted(text: str, **changes: Any) -> dict[str, Any]:
    return {"text": text, "split": "train", "format": "auto", **changes}


def proposed(client: Client, form: dict[str, Any]) -> Any:
    """What is shown once a form was sent: the proposal, or the form with what is wrong in it."""
    return client.post(IMPORT, form, follow=True)


def address(page: Any, step: str = "") -> str:
    return f"{PLACE}imports/{page.context['imported'].pk}/{step}"


def accept(client: Client, page: Any) -> Any:
    return client.post(address(page, "accept/"), follow=True)


def test_the_page_names_the_formats_it_reads(client: Client) -> None:
    page = words(client.get(IMPORT))
    for name in ("openreward", "openai_chat", "sharegpt", "transcript"):
        assert name in page


def test_a_proposal_shows_what_every_row_becomes_and_keeps_nothing(
    client: Client, environment: Environment
) -> None:
    page = proposed(client, pasted(ROWS))
    said = words(page)
    assert "Import 3 tasks" in said
    assert "Nothing is kept yet" in said
    imported = page.context["imported"]
    assert (imported.rows_read, imported.created, imported.refused) == (4, 3, 1)
    assert "The capital of Austria?" in said
    assert not Task.objects.exists()
    assert not environment.splits.exists()


def test_accepting_does_what_was_proposed_and_undoing_takes_it_back(
    client: Client, environment: Environment
) -> None:
    done = accept(client, proposed(client, pasted(ROWS)))
    assert "Imported 3 tasks" in words(done)
    assert [task.key for task in Task.objects.order_by("position")] == ["q1", "7", "q3"]
    assert environment.splits.get().name == "train"
    undone = client.post(address(done, "undo/"), follow=True)
    assert "This import was undone" in words(undone)
    assert "Removed 3" in words(undone)
    assert not Task.objects.exists()


def test_a_file_is_as_good_as_a_paste(client: Client) -> None:
    file = SimpleUploadedFile("rows.jsonl", ROWS.encode())
    page = proposed(client, {"file": file, "split": "train", "format": "auto"})
    assert "rows.jsonl" in words(page)
    accept(client, page)
    assert Task.objects.count() == 3


def test_a_proposal_has_an_address_to_come_back_to_and_is_listed(client: Client) -> None:
    page = proposed(client, pasted(ROWS, split="dev", update="on"))
    again = client.get(address(page))
    assert "Import 3 tasks" in words(again)
    assert (again.context["imported"].split, again.context["imported"].update) == ("dev", True)
    assert "pasted text" in words(client.get(IMPORT))
    assert "Proposed" in words(client.get(f"{PLACE}imports/"))


def test_discarding_leaves_nothing(client: Client) -> None:
    page = proposed(client, pasted(ROWS))
    gone = client.post(address(page, "discard/"), follow=True)
    assert "Nothing of pasted text was kept" in words(gone)
    assert client.get(address(page)).status_code == 404
    assert not Import.objects.exists()


def test_one_turn_is_given_another_role(client: Client) -> None:
    page = proposed(client, pasted(TALK))
    roles = [turn.role for turn in page.context["turns"]]
    assert roles == ["user", "assistant", "user"]
    change = {"change": "role", "turn": page.context["turns"][2].turn, "role": "system"}
    part = client.post(address(page, "change/"), change, headers=HTMX)
    assert [turn.role for turn in part.context["turns"]] == ["user", "assistant", "system"]
    back = client.post(address(page, "change/"), {"change": "no-roles"}, headers=HTMX)
    assert [turn.role for turn in back.context["turns"]] == roles


def test_all_turns_of_a_speaker_are_given_another_role(client: Client) -> None:
    page = proposed(client, pasted(TALK))
    speaker = page.context["turns"][0].speaker
    assert speaker == "Priya"
    change = {"change": "role", "speaker": speaker, "role": "assistant"}
    part = client.post(address(page, "change/"), change, headers=HTMX)
    assert [turn.role for turn in part.context["turns"]] == ["assistant"] * 3
    accept(client, part)
    (task,) = Task.objects.all()
    assert task.current is not None
    wire = json.loads(task.current.content)["messages"]
    assert [message["role"] for message in wire] == ["assistant"] * 3


@pytest.mark.parametrize(
    "change",
    [
        {"change": "role", "turn": "1:0", "role": "critic"},
        {"change": "role", "role": "user"},
        {"change": "mapping", "how": "yaml", "yaml": "conversation: ["},
        {"change": "mapping", "how": "yaml", "yaml": "- a list"},
        {"change": "mapping", "how": "yaml", "yaml": ALIASES},
        {"change": "mapping", "how": "yaml", "yaml": "[" * 300_000},
        {"change": "mapping", "how": "columns", "use-0": "nonsense"},
        {"split": "", "format": "auto"},
    ],
)
def test_a_change_that_cannot_be_is_refused_and_the_proposal_stays(
    client: Client, change: dict[str, str]
) -> None:
    page = proposed(client, pasted(ROWS))
    assert client.post(address(page, "change/"), change, headers=HTMX).status_code == 422
    assert "Import 3 tasks" in words(client.get(address(page)))
    whole = client.post(address(page, "change/"), change, follow=True)
    assert "Import 3 tasks" in words(whole)


def test_columns_nobody_recognises_are_mapped(client: Client) -> None:
    table = "ticket,what they said,what we said\nT1,It broke,Sorry\nT2,Still broken,Sending one\n"
    page = proposed(client, pasted(table))
    columns = page.context["columns"]
    assert [column.name for column in columns] == ["ticket", "what they said", "what we said"]
    uses = {"use-0": "key", "use-1": "user", "use-2": "assistant"}
    client.post(address(page, "change/"), {"change": "mapping", "how": "columns", **uses})
    mapped = client.get(address(page))
    assert [turn.role for turn in mapped.context["turns"]] == ["user", "assistant"]
    assert [column.use for column in mapped.context["columns"]] == ["key", "user", "assistant"]
    accept(client, mapped)
    assert set(Task.objects.values_list("key", flat=True)) == {"T1", "T2"}


def test_a_mapping_is_written_as_yaml(client: Client) -> None:
    page = proposed(client, pasted('{"n": 3, "ask": "How many?"}'))
    yaml = "key: n\nconversation:\n  - role: user\n    content: '{{ ask }} {{ n }}'\n"
    client.post(address(page, "change/"), {"change": "mapping", "how": "yaml", "yaml": yaml})
    mapped = client.get(address(page))
    assert "How many? 3" in words(mapped)
    assert "{{ ask }} {{ n }}" in mapped.context["mapping_text"]


def test_columns_chosen_twice_for_what_there_is_one_of_are_refused(client: Client) -> None:
    page = proposed(client, pasted('{"a": "x", "b": "y"}'))
    uses = {"use-0": "key", "use-1": "key"}
    change = {"change": "mapping", "how": "columns", **uses}
    response = client.post(address(page, "change/"), change, headers=HTMX)
    assert (response.status_code, "Two columns" in response.content.decode()) == (422, True)


def test_a_mapping_of_columns_says_what_each_is_used_as() -> None:
    uses = {"id": "key", "said": "user", "odd name": "chosen", "x": "attribute", "y": "nothing"}
    assert mapping_of(uses) == {
        "key": "id",
        "chosen": ['row["odd name"]'],
        "conversation": [{"role": "user", "content": "said", "when": "said"}],
        "attributes": ["x"],
    }


def test_candidates_are_shown_and_kept_with_the_task(client: Client) -> None:
    row = {"id": "p", "prompt": "Name a gem.", "chosen": "Opal.", "rejected": "Mud."}
    page = proposed(client, pasted(json.dumps(row)))
    assert [answer.verdict for answer in page.context["answers"]] == ["chosen", "rejected"]
    accept(client, page)
    task = Task.objects.get(key="p")
    shown = words(client.get(f"{PLACE}tasks/{task.pk}/"))
    assert "Opal." in shown
    assert "never served" in shown


def test_the_ledger_is_narrowed_and_a_line_opens_its_row(client: Client) -> None:
    page = proposed(client, pasted(ROWS))
    refused = client.get(f"{address(page)}?outcome=refused")
    assert [line.row for line in refused.context["ledger"].lines] == [3]
    assert client.get(f"{address(page)}?code=id_not_string").context["ledger"].lines[0].row == 1
    row = client.get(f"{address(page)}?row=1")
    beside = row.context["beside"]
    assert (row.context["line"].key, beside.before, beside.behind) == ("7", "row=0", "row=2")
    assert client.get(f"{address(page)}?row=abc").status_code == 422
    assert client.get(f"{address(page)}?row=99").status_code == 200
    assert client.get(f"{address(page)}?outcome=odd").status_code == 422


def test_the_same_file_again_changes_nothing(client: Client) -> None:
    accept(client, proposed(client, pasted(ROWS)))
    page = proposed(client, pasted(ROWS))
    assert "every good row is there already" in words(page)
    assert "Import 0" not in words(page)
    assert page.context["imported"].unchanged == 3


def test_other_content_under_a_known_key_is_refused_unless_updates_are_wanted(
    client: Client,
) -> None:
    accept(client, proposed(client, pasted(ROWS)))
    changed = json.dumps({"id": "q1", "question": "The capital of Japan?", "target": "Tokyo"})
    refused = proposed(client, pasted(changed))
    assert "is there already, with other content" in words(refused)
    form = {"split": "train", "format": "auto", "update": "on"}
    client.post(address(refused, "change/"), form)
    page = client.get(address(refused))
    assert page.context["imported"].updated == 1
    assert Task.objects.get(key="q1").revisions.count() == 1
    accept(client, page)
    assert Task.objects.get(key="q1").revisions.count() == 2


def test_a_key_in_another_split_is_named_in_the_proposal(client: Client, split: Split) -> None:
    accept(client, proposed(client, pasted(ROWS)))
    page = proposed(client, pasted(ROWS, split="test"))
    assert "is in the split 'train' already" in words(page)


@pytest.mark.parametrize(
    ("form", "field", "said"),
    [
        (pasted(""), "file", "Choose a file, or paste something."),
        (pasted("  \n "), "file", "Choose a file, or paste something."),
        (pasted(ROWS, format="docx"), "format", "docx"),
        (pasted(ROWS, split=" bad\u0007name"), "split", "begins with a letter or a digit"),
        (pasted(ROWS, split=""), "split", "required"),
    ],
)
def test_what_cannot_be_imported_is_refused_beside_its_field(
    client: Client, form: dict[str, Any], field: str, said: str
) -> None:
    response = proposed(client, form)
    assert response.status_code == 422
    assert said in str(response.context["form"].errors[field])


def test_a_sent_form_goes_to_its_proposal_or_comes_back_with_its_errors(client: Client) -> None:
    sent = client.post(IMPORT, pasted(ROWS), headers=HTMX)
    assert (sent.status_code, "/imports/" in sent["HX-Redirect"]) == (204, True)
    wrong = client.post(IMPORT, pasted(""), headers=HTMX)
    assert (wrong.status_code, "<html" in wrong.content.decode()) == (200, False)
    assert "Choose a file, or paste something." in words(wrong)


def test_a_file_and_a_paste_at_once_are_one_too_many(client: Client) -> None:
    file = SimpleUploadedFile("rows.jsonl", ROWS.encode())
    response = proposed(client, {**pasted(ROWS), "file": file})
    assert response.status_code == 422
    assert "send one of the two" in words(response)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00binary", b"[1, 2", b"\x00" * 50, b'"text"'])
def test_bytes_that_are_no_rows_become_nothing(client: Client, content: bytes) -> None:
    file = SimpleUploadedFile("odd.bin", content)
    response = proposed(client, {"file": file, "split": "train", "format": "auto"})
    assert response.status_code in {200, 422}
    assert "Import 1 task" not in words(response)
    assert not Task.objects.exists()


def test_the_progress_of_a_step_that_has_ended_ends_the_polling(client: Client) -> None:
    page = proposed(client, pasted(ROWS))
    response = client.get(address(page, "progress/"), headers=HTMX)
    assert (response.status_code, response["HX-Refresh"]) == (286, "true")


def test_an_import_of_another_environment_is_not_there(client: Client, visit: Visitor) -> None:
    page = proposed(client, pasted(ROWS))
    assert client.get(f"{PLACE}imports/{page.context['imported'].pk + 1}/").status_code == 404
    assert visit("outsider").get(address(page)).status_code == 404


def test_an_annotator_imports_nothing(visit: Visitor, environment: Environment) -> None:
    assert visit("annotator").get(IMPORT).status_code == 403
    assert visit("annotator").post(IMPORT, pasted(ROWS)).status_code == 403


def test_a_turn_is_corrected_in_its_row_and_in_no_other_of_the_same_line(client: Client) -> None:
    rows = [{"messages": [{"role": "user", "content": text}]} for text in ("one", "two")]
    page = proposed(client, pasted(json.dumps(rows)))
    second = client.get(f"{address(page)}?row=1").context["turns"][0]
    change = {"change": "role", "turn": second.turn, "role": "assistant"}
    client.post(address(page, "change/"), change, headers=HTMX)
    roles = [client.get(f"{address(page)}?row={row}").context["turns"][0].role for row in (0, 1)]
    assert roles == ["user", "assistant"]


def test_a_correction_that_cannot_be_is_explained_and_can_be_taken_back(client: Client) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    row = {"messages": [{"role": "assistant", "tool_calls": [call]}]}
    page = proposed(client, pasted(json.dumps(row)))
    change = {"change": "role", "turn": page.context["turns"][0].turn, "role": "user"}
    part = client.post(address(page, "change/"), change, headers=HTMX)
    assert part.context["imported"].refused == 1
    assert "Take all corrections back" in words(part)
    back = client.post(address(page, "change/"), {"change": "no-roles"}, headers=HTMX)
    assert back.context["imported"].created == 1


def test_rows_that_hold_no_text_can_be_looked_at(client: Client) -> None:
    page = proposed(client, pasted(json.dumps({"messages": [], "n": [1]})))
    assert page.status_code == 200
    assert page.context["mapping_text"] == ""


def test_the_ledger_goes_with_the_row_that_is_looked_at(client: Client) -> None:
    rows = [{"id": f"q{n}", "question": "Why?"} if n % 2 else {"id": n} for n in range(120)]
    page = proposed(client, pasted("\n".join(json.dumps(row) for row in rows)))
    far = client.get(f"{address(page)}?row=77")
    assert [line.entry.row for line in far.context["lines"]] == list(range(50, 100))
    assert far.context["beside"].behind == "row=78"
    narrowed = client.get(f"{address(page)}?outcome=refused&row=10")
    assert narrowed.context["beside"].before == "outcome=refused&row=8"
    assert narrowed.context["beside"].behind == "outcome=refused&row=12"
    last = client.get(f"{address(page)}?outcome=refused&row=98")
    assert last.context["beside"].behind.startswith("outcome=refused&after=")
    further = client.get(f"{address(page)}?{last.context['beside'].behind}")
    assert further.context["line"].row == 100


def test_a_kind_of_note_narrows_the_ledger(client: Client) -> None:
    page = proposed(client, pasted(ROWS))
    narrowed = client.get(f"{address(page)}?kind=refused")
    assert [line.row for line in narrowed.context["ledger"].lines] == [3]
    assert client.get(f"{address(page)}?kind=odd").status_code == 422


def test_an_environment_names_the_imports_that_wait(client: Client, visit: Visitor) -> None:
    page = proposed(client, pasted(ROWS))
    assert "pasted text waits to be accepted" in words(client.get(PLACE))
    Import.objects.update(state="reading")
    assert "pasted text reading" in words(client.get(PLACE))
    assert "pasted text" not in words(visit("viewer").get(PLACE))
    Import.objects.update(state="proposed")
    accept(client, page)
    assert "pasted text" not in words(client.get(PLACE))


def test_what_failed_while_it_was_read_can_be_read_again(client: Client) -> None:
    page = proposed(client, pasted(ROWS))
    Import.objects.update(state="failed", error="The worker was lost.", rows_read=0, created=0)
    failed = client.get(address(page))
    assert "The worker was lost." in words(failed)
    assert "Nothing was kept" in words(failed)
    again = {"split": "train", "format": "auto"}
    client.post(address(page, "change/"), again)
    assert "Import 3 tasks" in words(client.get(address(page)))


@pytest.mark.parametrize(
    ("state", "said"),
    [("reading", "1 KB of 2 KB, 5 rows"), ("writing", "3 of 5 rows"), ("undoing", "0 of 3 tasks")],
)
def test_a_step_says_how_far_it_is_and_goes_on(client: Client, state: str, said: str) -> None:
    page = proposed(client, pasted(ROWS))
    counts = {"rows_read": 5, "created": 3, "updated": 0, "unchanged": 0, "refused": 0}
    Import.objects.update(state=state, bytes_read=1024, bytes_total=2048, **counts)
    going = client.get(address(page, "progress/"), headers=HTMX)
    assert (going.status_code, going.has_header("HX-Refresh")) == (200, False)
    assert said in words(going).replace("1.0", "1").replace("2.0", "2").replace("\xa0", " ")
    assert "Import 3 tasks" not in words(client.get(address(page)))
