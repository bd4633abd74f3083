"""Settling a call: decided once and written down, to be told at a time of its own."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import DatabaseError, transaction

from apps.accounts.permissions import OPERATOR
from apps.episodes.actions import run_call, run_group
from apps.episodes.models import Session, ToolRun
from apps.episodes.queries import Episode, find_call, find_group, result_of
from apps.tasks.actions import update_environment
from apps.tasks.queries import get_environment
from tests.episodes.conftest import Player

NOON = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)
Start = Callable[..., Episode]


def find_order(episode: Episode, order: str) -> ToolRun:
    return run_call(episode=episode, tool="find_order", given={"id": order})


def submit(episode: Episode, answer: str) -> ToolRun:
    return run_call(episode=episode, tool="submit", given={"answer": answer})


def reply(episode: Episode, text: str) -> ToolRun:
    return run_call(episode=episode, tool="reply", given={"text": text})


def seconds(count: float) -> datetime:
    return NOON + timedelta(seconds=count)


def test_a_call_is_written_down_before_anything_is_said_of_it(start: Start) -> None:
    """Whatever then happens to the process or the connection, it is found again as it was."""
    episode = start("counter", "sum")
    run = run_call(episode=episode, tool="submit", given={"answer": "42", "\0": "\0"})
    found = find_call(episode, run.task_id)
    assert found is not None
    assert (found.output, found.reward, found.ready_at) == (run.output, 1.0, run.ready_at)
    assert json.loads(found.input) == {"answer": "42", "\0": "\0"}
    assert Session.objects.get(pk=episode.pk).reward == 1.0


def test_of_two_answers_the_first_counts(start: Start) -> None:
    episode = start("counter", "sum")
    assert submit(episode, "42").reward == 1.0
    assert "episode_finished" in submit(episode, "0").output
    assert Session.objects.get(pk=episode.pk).reward == 1.0


def test_a_grade_and_the_end_of_the_episode_are_written_together_or_not_at_all(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    episode = start("counter", "sum")
    monkeypatch.setattr(
        "apps.episodes.actions._FINISH", "UPDATE nowhere SET a = %s, b = %s WHERE c = %s"
    )
    with pytest.raises(DatabaseError), transaction.atomic():
        submit(episode, "42")
    assert not ToolRun.objects.exists()


def test_calls_of_one_tool_are_ready_one_after_another(start: Start) -> None:
    with time_machine.travel(NOON, tick=False):
        episode = start("counter", "lab")
        ready = [find_order(episode, order).ready_at for order in ("later", "slow", "7302")]
    assert ready == [seconds(5), seconds(5.6), seconds(5.6)]


def test_sessions_do_not_wait_for_each_other(start: Start) -> None:
    with time_machine.travel(NOON, tick=False):
        find_order(start("counter", "lab"), "later")
        assert find_order(start("counter", "lab"), "slow").ready_at == seconds(0.6)


def test_tools_do_not_wait_for_each_other(start: Start) -> None:
    with time_machine.travel(NOON, tick=False):
        episode = start("counter", "lab")
        slow = find_order(episode, "later")
        assert submit(episode, "done").ready_at == NOON
        assert "episode_finished" in result_of(slow).output


def test_what_was_ready_before_the_episode_ended_stays(start: Start) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        episode = start("counter", "lab")
        slow, quick = find_order(episode, "slow"), find_order(start("counter", "lab"), "7302")
        clock.move_to(seconds(1))
        submit(episode, "done")
        assert '"text":"slow"' in result_of(slow).output
        assert result_of(quick).output == quick.output


def test_a_terminal_tool_waits_for_the_calls_before_it(start: Start) -> None:
    """It runs alone, so what was asked before the closing message is still answered."""
    with time_machine.travel(NOON, tick=False) as clock:
        episode = start("riddles", "capital")
        earlier = run_call(episode=episode, tool="find_order", given={})
        ToolRun.objects.update(ready_at=seconds(3), output='{"ok":true}')
        assert reply(episode, "Vienna").ready_at == seconds(3)
        clock.move_to(seconds(4))
        assert result_of(ToolRun.objects.get(task_id=earlier.task_id)).output == '{"ok":true}'
        assert Session.objects.get(pk=episode.pk).finished_at == seconds(3)


def test_after_the_closing_message_nothing_else_runs(start: Start) -> None:
    episode = start("riddles", "capital")
    assert '"reward":0.0' in reply(episode, "Graz").output
    assert "episode_finished" in reply(episode, "Vienna").output


def test_a_changed_environment_counts_for_the_next_call(start: Start, player: Player) -> None:
    """While nothing changes its tools are built once; a change is seen at once."""
    riddles = get_environment(OPERATOR, player.project, "riddles")
    for offers_submit, reason in ((False, "not_found"), (True, '"ok":true'), (False, "not_found")):
        update_environment(actor=OPERATOR, environment=riddles, offers_submit=offers_submit)
        assert reason in submit(start("riddles", "capital"), "Vienna").output


def test_a_failing_tool_keeps_its_reason_and_its_delay(start: Start) -> None:
    run = find_order(start("counter", "lab"), "crash")
    assert (run.output, run.error) == ("", "the depot\nis on fire")
    assert result_of(run).error == run.error


def test_a_groups_id_finds_no_call_and_a_calls_no_group(start: Start) -> None:
    episode = start("riddles", "capital")
    group = run_group(episode=episode, answers=["Vienna"])
    single = reply(episode, "Vienna")
    found = find_group(episode, group.task_id)
    assert found is not None
    assert found.output == group.output
    assert find_call(episode, group.task_id) is None
    assert find_group(episode, single.task_id) is None


def test_a_call_is_no_other_sessions(start: Start) -> None:
    mine, yours = start("counter", "sum"), start("counter", "sum")
    assert find_call(mine, submit(yours, "42").task_id) is None


@pytest.mark.parametrize("name", ["x" * 5000, "\0submit", "submit\0"])
def test_a_name_that_no_tool_can_have_is_not_found(start: Start, name: str) -> None:
    run = run_call(episode=start("counter", "sum"), tool=name, given={"answer": "42"})
    assert "not_found" in run.output
