"""Metrics of a run: trials are averaged by task, and what was not scored is no zero."""

import pytest

from apps.runs.playing import play
from apps.runs.results import compute_metrics
from apps.traces.models import Score
from tests.runs.stage import TWO_TURNS, Stage

pytestmark = pytest.mark.django_db(transaction=True)


def test_trials_are_averaged_by_task(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(TWO_TURNS, evaluated="model", trials=2)
    play(run.pk)
    (metric,) = stage.again(run).metrics
    assert (metric["value"], metric["n"], metric["total"], metric["coverage"]) == (1.0, 3, 3, 1.0)
    first, second, third = (
        list(Score.objects.filter(trace__sample__revision__task__key=f"q000{number}"))
        for number in range(3)
    )
    Score.objects.filter(pk=first[0].pk).update(values={"is_correct": False})
    Score.objects.filter(pk=second[1].pk).update(values={}, unscored_reason="provider_error")
    Score.objects.filter(pk__in=[score.pk for score in third]).delete()
    (metric,) = compute_metrics(stage.again(run))
    assert (metric["value"], metric["n"], metric["total"]) == (0.75, 2, 3)
    assert metric["coverage"] == pytest.approx(3 / 6)
    assert metric["low_if_failed"] <= metric["low"] <= 0.75 <= metric["high"]
