"""Settling a call: decided once, by whichever process comes first, at a time of its own."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from apps.episodes.actions import settle, start_call, start_group
from apps.episodes.models import Session, ToolRun
from apps.episodes.queries import Episode, find_call, find_group, result_of
from tests.episodes.conftest import Player

NOON = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)
Start = Callable[..., Episode]


def find_order(episode: Episode, order: str) -> ToolRun:
    run = start_call(episode=episode, tool="find_order", given={"id": order})
    return settle(episode=episode, run=run)


def submit(episode: Episode, answer: str) -> ToolRun:
    run = start_call(episode=episode, tool="submit", given={"answer": answer})
    return settle(episode=episode, run=run)


def seconds(count: float) -> datetime:
    return NOON + timedelta(seconds=count)


def test_a_call_is_remembered_before_anything_is_decided(start: Start) -> None:
    episode = start("counter", "sum")
    run = start_call(episode=episode, tool="submit", given={"answer": "42", "\0": "\0"})
    kept = ToolRun.objects.get()
    assert (kept.task_id, kept.settled_at, kept.output) == (run.task_id, None, "")
    assert find_call(episode, run.task_id) == run


def test_any_process_settles_what_another_left_behind(start: Start, player: Player) -> None:
    """The one that remembered the call may have died before it could answer."""
    episode = start("counter", "sum")
    left = start_call(episode=episode, tool="submit", given={"answer": "42"})
    found = find_call(episode, left.task_id)
    assert found is not None
    settled = settle(episode=episode, run=found)
    assert settled.reward == 1.0
    assert Session.objects.get(pk=episode.pk).reward == 1.0


def test_settling_twice_says_the_same(start: Start) -> None:
    episode = start("counter", "sum")
    run = start_call(episode=episode, tool="submit", given={"answer": "42"})
    stale = ToolRun.objects.get()
    first = settle(episode=episode, run=run)
    second = settle(episode=episode, run=stale)
    assert (first.output, first.ready_at) == (second.output, second.ready_at)
    assert '"ok":true' in second.output


def test_of_two_answers_the_first_counts(start: Start) -> None:
    episode = start("counter", "sum")
    first = start_call(episode=episode, tool="submit", given={"answer": "0"})
    second = start_call(episode=episode, tool="submit", given={"answer": "42"})
    assert settle(episode=episode, run=second).reward == 1.0
    assert "episode_finished" in settle(episode=episode, run=first).output
    assert Session.objects.get(pk=episode.pk).reward == 1.0


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
        run = start_call(episode=episode, tool="find_order", given={})
        ToolRun.objects.filter(pk=run.pk).update(
            settled_at=NOON, ready_at=seconds(3), output='{"ok":true}'
        )
        last = settle(
            episode=episode,
            run=start_call(episode=episode, tool="reply", given={"text": "Vienna"}),
        )
        assert last.ready_at == seconds(3)
        clock.move_to(seconds(4))
        assert result_of(ToolRun.objects.get(pk=run.pk)).output == '{"ok":true}'
        assert Session.objects.get(pk=episode.pk).finished_at == seconds(3)


def test_after_the_closing_message_nothing_else_runs(start: Start) -> None:
    episode = start("riddles", "capital")
    for text, reason in (("Graz", None), ("Vienna", "episode_finished")):
        run = start_call(episode=episode, tool="reply", given={"text": text})
        output = settle(episode=episode, run=run).output
        assert (reason in output) if reason else ('"reward":0.0' in output)


def test_a_failing_tool_keeps_its_reason_and_its_delay(start: Start) -> None:
    run = find_order(start("counter", "lab"), "crash")
    assert (run.output, run.error) == ("", "the depot\nis on fire")
    assert result_of(run).error == run.error


def test_a_groups_id_finds_no_call_and_a_calls_no_group(start: Start) -> None:
    episode = start("riddles", "capital")
    group = start_group(episode=episode, answers=["Vienna"])
    single = start_call(episode=episode, tool="reply", given={"text": "Vienna"})
    assert find_group(episode, group.task_id) == group
    assert find_call(episode, group.task_id) is None
    assert find_group(episode, single.task_id) is None


def test_a_call_is_no_other_sessions(start: Start) -> None:
    mine, yours = start("counter", "sum"), start("counter", "sum")
    run = start_call(episode=yours, tool="submit", given={"answer": "42"})
    assert find_call(mine, run.task_id) is None


@pytest.mark.parametrize("name", ["x" * 5000, "\0submit", "submit\0"])
def test_a_name_that_no_tool_can_have_is_not_found(start: Start, name: str) -> None:
    episode = start("counter", "sum")
    run = start_call(episode=episode, tool=name, given={"answer": "42"})
    assert "not_found" in settle(episode=episode, run=run).output
