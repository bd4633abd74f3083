"""Tasks out: whole or by name what was not carried, in any container, without holding them all."""

import io
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.errors import Invalid, NotFound
from apps.accounts.permissions import OPERATOR, Actor
from apps.dialogue.file_containers.writing import parquet_table
from apps.dialogue.file_formats import ALIASES, FORMATS, read_tasks
from apps.tasks import exporting
from apps.tasks.actions import import_rows
from apps.tasks.exporting import (
    BATCH,
    EXPORT_FORMATS,
    ExportReport,
    LossLine,
    export_format,
    prepare_export,
    write_export,
)
from apps.tasks.models import Environment, Split, Task
from tests import cast as people
from tests.factories import conversation, make_content, make_split, make_task, message

REASONING = {"type": "reasoning", "text": "Hm."}


def exported(environment: Environment, **options: Any) -> tuple[bytes, ExportReport]:
    sink = io.BytesIO()
    options = {"format": "openreward", **options}
    report = write_export(sink, OPERATOR, environment, **options)
    return sink.getvalue(), report


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def command(*arguments: str) -> tuple[int, bytes, str]:
    """The exit code, standard output and standard error of `export_tasks alpha/shop`."""
    sink, told = io.BytesIO(), io.StringIO()
    out = io.TextIOWrapper(sink, write_through=True)
    code = 0
    try:
        call_command("export_tasks", "alpha/shop", *arguments, stdout=out, stderr=told)
    except SystemExit as leaving:
        code = int(str(leaving.code))
    return code, sink.getvalue(), told.getvalue()


@pytest.fixture
def chat(split: Split) -> None:
    """Two tasks: one of plain text, and one with reasoning in its second message."""
    make_task(split=split, key="plain", content=make_content(message("user", "Hi"), n=1))
    turns = [message("user", "Why?"), message("assistant", REASONING, "So.")]
    make_task(split=split, key="thought", content=make_content(*turns))


@pytest.mark.parametrize("name", ["openreward", "csv", "parquet"])
def test_a_task_comes_back_whole(name: str, split: Split) -> None:
    attributes = {"z": 1, "a": [{"b": 1.0}], "empty": "", "none": None, "f": "=1+1", "x": "5"}
    content = {
        **make_content(*conversation(), **attributes),
        "tags": ["one", "two"],
        "tools": [{"name": "find_order"}],
        "candidates": [
            {"messages": [message("assistant", "Yes.")], "verdict": "chosen", "model": "m"}
        ],
    }
    make_task(split=split, key="full", content=content)
    data, report = exported(split.environment, format=name)
    assert report == ExportReport(tasks=1, rows=1, refused=0, losses=0)
    suffix = EXPORT_FORMATS[name].file.suffix
    (row,) = read_tasks(io.BytesIO(data), file_name=f"tasks{suffix}")
    assert row.task is not None, row.notes
    assert row.task.key == "full"
    assert list(row.task.attributes.items()) == list(attributes.items())
    assert row.task.tags == ("one", "two")
    assert row.task.tools == [{"name": "find_order"}]
    assert [each.verdict for each in row.task.candidates] == ["chosen"]
    wire = [each.to_wire() for each in row.task.messages]
    assert [each["role"] for each in wire] == ["user", "assistant", "user"]
    assert wire[1]["blocks"][1]["input"] == {"order": "7302"}


def test_an_attribute_may_have_any_name(split: Split) -> None:
    taken = dict.fromkeys(["tools", "tags", "messages", "key", "turnwright", "", "candidates"], 1)
    content = {**make_content(message("user", "Hi"), **taken), "tags": ["mine"]}
    make_task(split=split, key="odd", content=content)
    data, report = exported(split.environment, on_loss="leave_out")
    (row,) = read_tasks(io.BytesIO(data))
    if not report.losses:
        assert row.task is not None
        assert (row.task.attributes, row.task.tags) == (taken, ("mine",))


@pytest.mark.usefixtures("chat")
def test_a_task_that_cannot_be_carried_is_refused_by_name(environment: Environment) -> None:
    heard: list[LossLine] = []
    data, report = exported(environment, format="latticeflow_trace", on_loss_line=heard.append)
    assert [line["metadata"]["trace_id"] for line in lines(data)] == ["plain"]
    assert report == ExportReport(tasks=2, rows=1, refused=1, losses=1)
    (line,) = heard
    assert line.key == "thought"
    assert line.place.startswith("messages[1]")
    assert "reasoning" in line.message


@pytest.mark.usefixtures("chat")
def test_what_cannot_be_carried_may_be_left_out(environment: Environment) -> None:
    heard: list[LossLine] = []
    data, report = exported(
        environment, format="latticeflow_trace", on_loss="leave_out", on_loss_line=heard.append
    )
    assert report == ExportReport(tasks=2, rows=2, refused=0, losses=1)
    assert [line.key for line in heard] == ["thought"]
    assert lines(data)[1]["items"][1]["content"][0]["text"] == "So."


@pytest.mark.usefixtures("chat")
def test_losses_are_told_without_writing(environment: Environment) -> None:
    told = list(prepare_export(OPERATOR, environment, format="latticeflow_trace").losses())
    assert [each.key for each in told[:-1] if isinstance(each, LossLine)] == ["thought"]
    assert told[-1] == ExportReport(tasks=2, rows=1, refused=1, losses=1)


@pytest.mark.usefixtures("chat")
def test_looking_for_losses_ends_between_batches_when_it_is_asked_to(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "BATCH", 1)
    wanted = prepare_export(OPERATOR, environment, format="latticeflow_trace")
    assert list(wanted.losses(lambda: True)) == [ExportReport(1, 1, 0, 0)]
    assert len(list(wanted.losses(lambda: False))) == 2


def test_splits_and_statuses_are_chosen(split: Split, environment: Environment) -> None:
    other = make_split(environment=environment, name="test")
    make_task(split=split, key="a")
    make_task(split=other, key="b", status="ready")
    make_task(split=other, key="c", status="archived")

    def keys(**options: Any) -> list[str]:
        return [line["id"] for line in lines(exported(environment, **options)[0])]

    assert keys() == ["a", "b"]
    assert keys(split="test") == ["b"]
    assert keys(status="archived") == ["c"]
    assert keys(status="ready", split="train") == []


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"format": "xml"}, "format"),
        ({"on_loss": "guess"}, "on_loss"),
        ({"status": "gone"}, "status"),
    ],
)
def test_a_wrong_wish_is_refused_before_anything_is_written(
    environment: Environment, options: dict[str, str], place: str
) -> None:
    with pytest.raises(Invalid) as refused:
        exported(environment, **options)
    assert refused.value.place == place
    with pytest.raises(NotFound):
        exported(environment, split="nowhere")


def test_a_stranger_exports_nothing(environment: Environment, cast: people.Cast) -> None:
    with pytest.raises(NotFound):
        write_export(io.BytesIO(), Actor(user=cast.outsider), environment, format="csv")


def test_every_format_that_can_be_written_is_an_export_and_every_alias_leads_to_one() -> None:
    writable = {name for name, each in FORMATS.items() if each.write is not None}
    assert writable <= set(EXPORT_FORMATS)
    for name in [*EXPORT_FORMATS, *ALIASES]:
        assert export_format(name).title


def test_pieces_are_the_bytes_of_the_file(split: Split, environment: Environment) -> None:
    for number in range(BATCH + 3):
        make_task(split=split, key=f"t{number}", content=make_content(message("user", "Hi")))
    whole, report = exported(environment)
    assert report.tasks == BATCH + 3
    pieces = list(prepare_export(OPERATOR, environment, format="openreward").pieces())
    assert len(pieces) > 2
    assert b"".join(pieces) == whole
    heard: list[int] = []
    exported(environment, on_progress=heard.append)
    assert heard == [BATCH, BATCH + 3]


@pytest.mark.parametrize("name", ["openreward", "csv", "parquet"])
def test_memory_holds_a_few_large_tasks_and_not_all(
    name: str, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "word " * 40_000
    for number in range(40):
        make_task(split=split, key=f"t{number}", content=make_content(message("user", words)))
    monkeypatch.setattr(exporting, "BATCH_SIZE", 1 << 20)
    monkeypatch.setattr(parquet_table, "GROUP_BYTES", 1 << 20)
    exported(split.environment, format=name)  # what is loaded once is not counted
    with Path(os.devnull).open("wb") as sink:
        tracemalloc.start()
        write_export(sink, OPERATOR, split.environment, format=name)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 6 << 20, "all texts together are 8 MB"


@pytest.mark.usefixtures("chat")
def test_the_command_writes_bytes_and_tells_losses_apart() -> None:
    code, data, told = command("--format", "canonical")
    assert (code, len(lines(data))) == (0, 2)
    assert "2 tasks: 2 rows written as openreward" in told
    code, data, told = command("--format", "latticeflow_trace")
    assert (code, len(lines(data))) == (1, 1)
    assert "task thought: messages[1]" in told
    assert "1 tasks not written" in told
    code, data, told = command("--format", "latticeflow_trace", "--on-loss", "leave_out")
    assert (code, len(lines(data))) == (0, 2)
    assert "task thought: messages[1]" in told
    code, data, _ = command("--format", "parquet")
    assert (code, data[:4]) == (0, b"PAR1")


@pytest.mark.usefixtures("chat")
def test_the_command_says_what_it_does_not_know() -> None:
    for arguments, words in (
        (("--format", "xml"), "is not a format of exports: "),
        (("--split", "none"), "There is no split"),
    ):
        with pytest.raises(CommandError, match=words):
            command(*arguments)
    with pytest.raises(CommandError, match="project/environment"):
        call_command("export_tasks", "shop")


def test_a_draft_that_nobody_wrote_in_comes_back_as_it_is(split: Split) -> None:
    make_task(split=split, key="empty", content={"messages": [], "attributes": {"n": 1}})
    for name in ("openreward", "csv", "parquet"):
        data, report = exported(split.environment, format=name)
        assert report == ExportReport(tasks=1, rows=1, refused=0, losses=0)
        (row,) = read_tasks(io.BytesIO(data), file_name=f"tasks{EXPORT_FORMATS[name].file.suffix}")
        assert row.task is not None, row.notes
        assert (row.task.key, row.task.messages, row.task.attributes) == ("empty", (), {"n": 1})
    before = Task.objects.get().current_id
    (line,) = import_rows(
        actor=OPERATOR,
        environment=split.environment,
        split=split,
        rows=read_tasks(io.BytesIO(exported(split.environment)[0])),
    ).lines
    assert line.outcome == "unchanged"
    assert Task.objects.get().current_id == before
