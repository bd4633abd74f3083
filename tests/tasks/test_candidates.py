"""Candidates are kept with a task by every save that says nothing about them."""

import json
from typing import Any

from apps.accounts.permissions import Actor
from apps.tasks.actions import accept_import, load_bundle, propose_import, save_revision
from apps.tasks.comparison import compare
from apps.tasks.content import parse_content
from apps.tasks.models import Split, Task
from apps.tasks.queries import bundle_of, content_of
from tests.factories import conversation, make_task, message, text

ANSWER = {
    "messages": [message("assistant", text("Yes"))],
    "verdict": "chosen",
    "model": "m-1",
    "detail": {"score": 4},
}


def with_candidates(split: Split, actor: Actor, **more: Any) -> Task:
    content = {"messages": conversation(), "candidates": [ANSWER]}
    return make_task(split=split, actor=actor, key="pair", content=content, **more)


def verdicts(task: Task) -> list[str]:
    assert task.current is not None
    return [each.verdict for each in content_of(task.current).candidates]


def test_a_save_without_a_word_keeps_them_and_an_empty_list_removes_them(
    split: Split, author: Actor
) -> None:
    task = with_candidates(split, author)
    new = {"messages": [message("user", text("Other?"))]}
    save_revision(actor=author, task=task, base=1, content=parse_content(new))
    assert verdicts(task) == ["chosen"]
    save_revision(actor=author, task=task, base=2, content={**new, "candidates": []})
    assert verdicts(task) == []


def test_the_same_content_without_a_word_makes_no_revision(split: Split, author: Actor) -> None:
    task = with_candidates(split, author)
    saved = save_revision(actor=author, task=task, base=1, content={"messages": conversation()})
    assert saved.number == 1


def test_a_comparison_shows_them() -> None:
    before = parse_content({"messages": conversation(), "candidates": [ANSWER]})
    after = parse_content(
        {"messages": conversation(), "candidates": [{**ANSWER, "verdict": "rejected"}]}
    )
    (fact,) = compare(before, after).facts
    assert fact.name == "candidates"
    assert {piece.text for piece in fact.pieces if piece.change == "added"} == {"rejected"}
    assert compare(before, before).is_empty


def test_they_travel_in_a_bundle(split: Split, author: Actor) -> None:
    task = with_candidates(split, author, status="ready")
    project = split.environment.project
    bundle = bundle_of(author, split.environment)
    assert load_bundle(actor=author, project=project, bundle=bundle).unchanged == 1
    bundle["environments"][0]["name"] = "copy"
    del bundle["environments"][0]["turnwright"]
    load_bundle(actor=author, project=project, bundle=bundle)
    copied = Task.objects.exclude(pk=task.pk).get()
    assert verdicts(copied) == ["chosen"]


def test_an_import_of_rows_without_candidates_keeps_those_that_are_there(
    split: Split, author: Actor
) -> None:
    with_candidates(split, author)

    def imported(data: bytes) -> str:
        row = propose_import(
            actor=author, environment=split.environment, pieces=[data], file_name="r.jsonl",
            split=split.name, update=True,
        )  # fmt: skip
        done = accept_import(actor=author, imported=row)
        return f"{done.created} {done.updated} {done.unchanged}"

    same = parse_content({"messages": conversation()}).to_wire()["messages"]
    row = {"id": "pair", "conversation": same}
    assert imported(_line(row)) == "0 0 1"
    row["conversation"] = [message("user", text("Other?"))]
    assert imported(_line(row)) == "0 1 0"
    assert verdicts(Task.objects.get()) == ["chosen"]


def _line(row: Any) -> bytes:
    return json.dumps(row).encode()
