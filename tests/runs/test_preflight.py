"""Which tasks a model would refuse is known before a run, and none of them is paid for."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from apps.accounts.errors import Forbidden, Invalid
from apps.accounts.permissions import OPERATOR, Actor
from apps.dialogue.file_formats import read_tasks
from apps.runs import preflight
from apps.runs.models import Run
from apps.runs.playing import play
from apps.runs.preflight import RunPreflight, preflight_run
from apps.tasks.actions import import_rows
from apps.traces.models import ModelCall
from tests.cast import Cast
from tests.kits.fake_openai import FakeOpenAI
from tests.runs.stage import CLARIFY, Stage

pytestmark = pytest.mark.django_db(transaction=True)

RECORDED = """
key: recorded
display_name: Goes on with a recorded conversation
definition:
  dataset: {key: alpha/capitals}
  solver:
    type: multi_turn_solver
    message_builders:
      - type: generate_message
        model_key: judge
        include_conversation: false
        extra_input_messages: [{type: chat_message, role: user, content: Set the scene.}]
        output_role: user
      - {type: load_trace, trace_column: t}
      - {type: generate}
  scorers:
    - {type: includes, ground_truth: "{{ sample.target }}"}
"""


def trace(name: str) -> list[dict[str, Any]]:
    return [
        {"type": "message", "role": "user", "content": "What is the capital?"},
        {"type": "function_call", "call_id": "c", "name": name, "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "Vienna"},
    ]


@pytest.fixture
def recorded(stage: Stage) -> Stage:
    """The three tasks of the stage, which have no trace, and four with one: two are refused."""
    names = {"fine": "find", "odd": "two words", "long": "n" * 65, "good": "find"}
    lines = [
        json.dumps({"id": key, "question": "?", "target": "Vienna", "t": trace(name)}).encode()
        + b"\n"
        for key, name in names.items()
    ]
    import_rows(
        actor=OPERATOR, environment=stage.environment, split=stage.split, rows=read_tasks(lines)
    )
    stage.endpoint("model", "echo")
    return stage


def looked_at(stage: Stage, text: str = RECORDED, **options: Any) -> RunPreflight:
    return preflight_run(
        project=stage.project,
        environment=stage.environment,
        split=stage.split,
        spec=stage.spec(text),
        **{"actor": OPERATOR, "evaluated": "model", **options},
    )


def test_all_tasks_that_can_be_sent_are_no_news(stage: Stage, server: FakeOpenAI) -> None:
    stage.endpoint("model", "echo")
    found = looked_at(stage, CLARIFY)
    assert (found.total, found.checked, found.refused, found.doubtful) == (3, 3, 0, 0)
    assert found.is_complete
    assert found.tasks == []
    assert not Run.objects.exists()
    assert server.requests == []


def test_refused_tasks_are_counted_and_listed_with_their_reasons(recorded: Stage) -> None:
    found = looked_at(recorded)
    assert (found.total, found.refused, found.doubtful) == (7, 5, 0)
    reasons = {each.key: each.problem for each in found.tasks}
    assert set(reasons) == {"q0000", "q0001", "q0002", "odd", "long"}
    assert "no column 't'" in reasons["q0000"].message
    assert reasons["odd"].place == "messages[2].blocks[0]"
    assert "'two words'" in reasons["odd"].message


def test_the_limit_of_a_launch_counts_here_too(recorded: Stage) -> None:
    assert looked_at(recorded, limit=4).refused == 3


def test_long_lists_are_checked_in_part(recorded: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "MOST_CHECKED", 5)
    monkeypatch.setattr(preflight, "_CHUNK", 5)
    found = looked_at(recorded)
    assert (found.total, found.checked, found.is_complete) == (7, 5, False)


def test_what_a_launch_refuses_is_refused(recorded: Stage, cast: Cast) -> None:
    with pytest.raises(Invalid, match="'nobody'") as refused:
        looked_at(recorded, evaluated="nobody")
    assert refused.value.place == "evaluated"
    with pytest.raises(Forbidden):
        looked_at(recorded, actor=Actor(user=cast.viewer))


def test_no_model_is_paid_for_a_sample_that_another_one_would_be_refused(
    recorded: Stage, server: FakeOpenAI
) -> None:
    run = recorded.launch(RECORDED, evaluated="model")
    play(run.pk)
    ended = dict(outcomes(run))
    assert ended["odd"] == ended["long"] == "provider_error"
    assert ended["fine"] == ended["good"] == "completed"
    paid = ModelCall.objects.filter(trace__sample__run=run)
    assert {call.trace.sample.revision.task.key for call in paid} == {"fine", "good"}
    assert len(server.requests) == paid.count() == 4


def outcomes(run: Run) -> Iterator[tuple[str, str]]:
    for sample in run.samples.select_related("revision__task"):
        yield sample.revision.task.key, sample.ended
