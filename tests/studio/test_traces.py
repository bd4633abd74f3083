"""A trace page: turns, what happened between them, calls, scores and the end."""

import pytest

from apps.runs.models import Run
from apps.runs.playing import play
from tests.runs.stage import TWO_TURNS, Stage
from tests.studio.visitors import Visitor, words

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def played(stage: Stage) -> Run:
    """A finished run whose conversations end by a discarded stop."""
    run = stage.launch(evaluated=stage.endpoint("model", "confirm-then-answer"))
    play(run.pk)
    return run


def address(run: Run, position: int = 0) -> str:
    return f"/projects/alpha/runs/{run.number}/samples/{position}/"


def test_turns_say_whose_they_are_and_what_was_discarded(visit: Visitor, played: Run) -> None:
    response = visit("viewer").get(address(played))
    page = words(response)
    assert "System 1 set by the solver" in page
    assert "Assistant 3 reply of model" in page
    assert "reply of judge, round 1" in page
    assert "discarded" in page
    assert "Stopped: the message holds “<done>”. This round was discarded." in page
    kinds = [(each.kind, each.faded) for each in response.context["happenings"]]
    assert ("turn", True) in kinds


def test_the_end_the_answer_and_the_score_are_beside_it(visit: Visitor, played: Run) -> None:
    page = words(visit("viewer").get(address(played)))
    assert "How it ended Reason completed" in page
    assert "Answer Vienna" in page
    assert "string_equals is correct" in page


def test_what_was_expected_stands_beside_what_was_answered(visit: Visitor, stage: Stage) -> None:
    asked = TWO_TURNS.replace('user, content: "{{ sample.target }}"', 'user, content: "Well?"')
    run = stage.launch(asked, evaluated=stage.endpoint("e", "echo"))
    play(run.pk)
    page = words(visit("viewer").get(address(run)))
    assert "is correct: no Expected Vienna Answer" in page
    samples = words(visit("viewer").get(f"/projects/alpha/runs/{run.number}/"))
    assert "expected Vienna" in samples


def test_every_call_is_in_the_waterfall_with_its_state(visit: Visitor, played: Run) -> None:
    response = visit("viewer").get(address(played))
    calls = response.context["calls"]
    assert [shown.call.state for shown in calls] == ["kept", "kept", "kept", "discarded"]
    assert [shown.model for shown in calls] == ["model", "judge", "model", "judge"]
    for shown in calls:
        assert 0 <= shown.start <= 100
        assert shown.width > 0
        assert shown.start + shown.width <= 100.01
    starts = [shown.start for shown in calls]
    assert starts == sorted(starts)
    assert "4 calls" in words(response)


def test_a_failed_turn_is_shown_with_what_was_received(visit: Visitor, stage: Stage) -> None:
    run = stage.launch(TWO_TURNS, evaluated=stage.endpoint("cut", "truncate"))
    play(run.pk)
    response = visit("viewer").get(address(run))
    page = words(response)
    assert "No turn from cut: length" in page
    assert "As received" in page
    assert "incomplete reply" in page
    assert "Answer none to score" in page
    assert "failed" in {shown.call.state for shown in response.context["calls"]}


def test_a_sample_that_waits_says_so(visit: Visitor, stage: Stage) -> None:
    run = stage.launch(evaluated=stage.endpoint("model", "echo"))
    page = words(visit("viewer").get(address(run)))
    assert "Not played yet" in page


def test_the_raw_view_shows_texts_as_they_are(visit: Visitor, stage: Stage) -> None:
    text = TWO_TURNS.replace("First: ", "**bold** <text>kept</text> ")
    run = stage.launch(text, evaluated=stage.endpoint("e", "echo"))
    play(run.pk)
    client = visit("viewer")
    rendered = client.get(address(run)).content.decode()
    assert "<strong>bold</strong> &lt;text&gt;kept&lt;/text&gt;" in rendered
    raw = client.get(f"{address(run)}?text=raw").content.decode()
    assert "**bold** &lt;text&gt;kept&lt;/text&gt;" in raw


def test_neighbours_are_one_click_away(visit: Visitor, played: Run) -> None:
    first = visit("viewer").get(address(played)).content.decode()
    assert f'href="{address(played, 1)}"' in first
    last = visit("viewer").get(address(played, 2)).content.decode()
    assert f'href="{address(played, 1)}"' in last
    assert visit("viewer").get(address(played, 3)).status_code == 404


def test_a_trace_of_another_project_is_not_there(visit: Visitor, played: Run) -> None:
    assert visit("outsider").get(address(played)).status_code == 404
