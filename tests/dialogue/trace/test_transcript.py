"""A transcript only grows: what is dropped is marked, and whoever listens hears of it at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.message import text_message
from apps.dialogue.trace import Transcript


def test_entries_are_heard_of_as_they_are_written() -> None:
    heard: list[int] = []
    transcript = Transcript(on_entry=lambda entry: heard.append(entry.position))
    transcript.append(text_message("user", "a"), "message_builders[0]")
    transcript.write("custom", "", {"name": "x", "data": {}})
    assert heard == [0, 1]
    assert [entry.position for entry in transcript.entries] == [0, 1]


def test_dropping_marks_entries_and_tells_their_positions() -> None:
    dropped: list[tuple[int, int]] = []
    transcript = Transcript(on_discard=lambda first, last: dropped.append((first, last)))
    transcript.append(text_message("user", "a"), "p")
    mark = transcript.mark()
    transcript.append(text_message("user", "b"), "p")
    transcript.write("model_call_event", "p", {})
    transcript.append(text_message("assistant", "c"), "p", is_answer=True)
    assert transcript.answer == "c"
    assert transcript.discard_since(mark) == (1, 3)
    assert dropped == [(1, 3)]
    assert [entry.discarded for entry in transcript.entries] == [False, True, True, True]
    assert [message.text for message in transcript.messages] == ["a"]
    assert transcript.views == [{"role": "user", "content": "a"}]
    assert transcript.answer is None


def test_dropping_nothing_is_told_to_nobody() -> None:
    transcript = Transcript(on_discard=lambda first, last: pytest.fail("heard"))
    assert transcript.discard_since(transcript.mark()) is None


def test_the_answer_is_the_last_kept_one() -> None:
    transcript = Transcript()
    transcript.append(text_message("assistant", "one"), "p", is_answer=True)
    mark = transcript.mark()
    transcript.append(text_message("assistant", "two"), "p", is_answer=True)
    transcript.append(text_message("assistant", "no answer"), "p")
    assert (transcript.answer, transcript.answer_position) == ("two", 1)
    transcript.discard_since(mark)
    assert (transcript.answer, transcript.answer_position) == ("one", 0)


@given(st.lists(st.sampled_from(["append", "write", "mark", "discard"]), max_size=40))
def test_the_kept_messages_are_always_the_entries_that_are_not_discarded(steps: list[str]) -> None:
    transcript = Transcript()
    marks = [transcript.mark()]
    for number, step in enumerate(steps):
        if step == "append":
            transcript.append(text_message("user", str(number)), "p")
        elif step == "write":
            transcript.write("custom", "p", {"name": "x", "data": {}})
        elif step == "mark":
            marks.append(transcript.mark())
        else:
            # Loops end from the inside out, so the newest mark goes first.
            transcript.discard_since(marks.pop() if len(marks) > 1 else marks[0])
    kept = [
        entry.body["message"]["blocks"][0]["text"]
        for entry in transcript.entries
        if entry.kind == "message_event" and not entry.discarded
    ]
    assert [message.text for message in transcript.messages] == kept
    assert [view["content"] for view in transcript.views] == kept
    assert [entry.position for entry in transcript.entries] == list(range(len(transcript.entries)))
