"""What a run's scores say: every metric with n, coverage and interval."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from apps.dialogue.scoring import Scorer
from apps.dialogue.solver.spec import ResolvedTask, parse_task_spec, resolve
from apps.runs.models import Run
from apps.traces.models import Score


def resolved_task(run: Run) -> ResolvedTask:
    """The run's specification with its values put in; raises `SpecError`."""
    return _resolved(run.spec.text, json.dumps(run.config, sort_keys=True))


@lru_cache(maxsize=32)
def _resolved(text: str, config: str) -> ResolvedTask:
    return resolve(parse_task_spec(text), json.loads(config))


def metric_keys(scorers: Iterable[Scorer]) -> dict[tuple[str, str], str]:
    """The name of every metric in results and gates, by scorer key and metric key.

    A metric is called by its own key; where two scorers have the same, by ``scorer.metric``.
    """
    pairs = [(scorer.key, metric.key) for scorer in scorers for metric in scorer.metrics]
    own = [key for _, key in pairs]
    return {
        (scorer, key): key if own.count(key) == 1 else f"{scorer}.{key}" for scorer, key in pairs
    }


def compute_metrics(run: Run) -> list[dict[str, Any]]:
    """Compute every metric over the samples scored so far: the mean of each task, then over tasks.

    ``{"key", "name", "scorer", "value", "n", "total", "coverage", "low", "high", "low_if_failed",
    "high_if_passed"}``, in the order of the specification.
    """
    scorers = resolved_task(run).scorers
    names = metric_keys(scorers)
    by_task: dict[str, dict[int, list[dict[str, Any]]]] = {
        scorer.key: defaultdict(list) for scorer in scorers
    }
    rows = Score.objects.filter(trace__sample__run=run, unscored_reason="").values_list(
        "scorer", "trace__sample__revision", "values"
    )
    for scorer_key, revision, scored in rows.iterator(chunk_size=2000):
        if scorer_key in by_task:
            by_task[scorer_key][revision].append(scored)
    found: list[dict[str, Any]] = []
    for scorer in scorers:
        for metric in scorer.metrics:
            (field,) = metric.fields
            tasks = [
                [_number(each.get(field)) for each in trials]
                for trials in by_task[scorer.key].values()
            ]
            total = run.samples_total // run.trials
            estimate = metric.estimate(tasks, total, trials=run.trials)
            found.append(
                {
                    "key": names[(scorer.key, metric.key)],
                    "name": metric.name,
                    "scorer": scorer.key,
                    **asdict(estimate),
                }
            )
    return found


def _number(value: object) -> float | None:
    """True counts 1, false 0; what is no number does not count."""
    return float(value) if isinstance(value, bool | int | float) else None
