"""One claimed sample, from its first builder to its scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils import timezone

from apps.dialogue.pairing import Problem
from apps.dialogue.scoring import Scorer, ScoringContext, Unscored
from apps.dialogue.solver.ending import Ending
from apps.dialogue.solver.engine import play
from apps.dialogue.solver.rehearsal import rehearse
from apps.dialogue.solver.spec import MultiTurnSolver
from apps.dialogue.trace import TraceEntry, Transcript, to_open_responses
from apps.providers.queries import endpoints_of_run
from apps.providers.targets import Target, target_of
from apps.runs.leases import Claimed
from apps.runs.ledger import Desk, LedgerModel
from apps.runs.models import Run
from apps.runs.results import resolved_task
from apps.runs.writes import Finish, Progress
from apps.traces.actions import CallKey, Closing, NewEntry, NewScore

_CALL_FAILURES = frozenset({"incomplete_reply", "context_window", "provider_error"})


@dataclass(frozen=True)
class RunContext:
    """What all samples of a run share. ``targets`` by model key; None is the evaluated model."""

    run_id: int
    solver: MultiTurnSolver
    scorers: tuple[Scorer, ...]
    targets: Mapping[str | None, Target]
    wants_trace: bool


def load_context(run_id: int, demo_url: str | None = None) -> RunContext:
    """Read what a run needs to be played.

    Raises `SpecError`, `SecretUnreadable` or `NotFound` if it cannot be played any more.
    """
    run = Run.objects.select_related("spec", "evaluated", "project").get(pk=run_id)
    task = resolved_task(run)
    rows = endpoints_of_run(run.project, task.model_keys())
    targets: dict[str | None, Target] = {
        key: target_of(row, demo_url=demo_url) for key, row in rows.items()
    }
    targets[None] = target_of(run.evaluated, demo_url=demo_url)
    return RunContext(
        run_id=run_id,
        solver=task.solver,
        scorers=task.scorers,
        targets=targets,
        wants_trace=any("trace" in scorer.model_dump_json() for scorer in task.scorers),
    )


class SamplePlay:
    """Plays one sample and knows, at every moment, what of it is not stored yet."""

    def __init__(self, claimed: Claimed, context: RunContext, desk: Desk) -> None:
        self._claimed = claimed
        self._context = context
        self._stored = 0
        self._dropped: list[tuple[int, int]] = []
        self._transcript = Transcript(on_discard=self._on_discard)
        self._model = LedgerModel(
            claimed, context.targets, desk, self.take_progress, self._rehearse
        )

    async def play(self) -> Finish:
        """Play to the end; raises `Halted` if the player may not go on."""
        ending = await play(
            self._context.solver, self._claimed.columns, self._model, self._transcript
        )
        return Finish(
            lease=self._claimed.lease,
            progress=self.take_progress(),
            closing=self._closing(ending),
            kept=list(self._model.used.values()),
            dropped=self._dropped_calls(),
            scores=self._scores(ending),
        )

    async def _rehearse(self) -> Sequence[Problem]:
        apis = {key: target.api for key, target in self._context.targets.items()}
        return await rehearse(self._context.solver, self._claimed.columns, apis)

    def cancelled(self) -> Finish:
        """How the sample ends when it is told to stop where it is."""
        closing = Closing(
            trace_id=self._claimed.lease.trace_id,
            ended="cancelled",
            path="",
            model="",
            message="The run was cancelled.",
            answer=None,
        )
        return Finish(
            lease=self._claimed.lease,
            progress=self.take_progress(),
            closing=closing,
            kept=list(self._model.used.values()),
            dropped=self._dropped_calls(),
            is_cancelled=True,
        )

    def take_progress(self) -> Progress:
        """What was added to the transcript since the last time."""
        new = self._transcript.entries[self._stored :]
        self._stored = len(self._transcript.entries)
        dropped, self._dropped = self._dropped, []
        return Progress(entries=[self._row(entry) for entry in new], discarded=dropped)

    def _on_discard(self, first: int, last: int) -> None:
        """Entries that are not stored yet will be stored as discarded; others have to change."""
        if first < self._stored:
            self._dropped.append((first, min(last, self._stored - 1)))

    def _row(self, entry: TraceEntry) -> NewEntry:
        return NewEntry(
            trace_id=self._claimed.lease.trace_id,
            position=entry.position,
            kind=entry.kind,
            path=entry.path,
            body=entry.body,
            discarded=entry.discarded,
            at=timezone.now(),
        )

    def _closing(self, ending: Ending) -> Closing:
        model = ending.model_key or ""
        if not model and ending.reason in _CALL_FAILURES:
            model = self._context.targets[None].key
        return Closing(
            trace_id=self._claimed.lease.trace_id,
            ended=ending.reason,
            path=ending.path,
            model=model,
            message=ending.message,
            answer=ending.answer,
        )

    def _dropped_calls(self) -> list[CallKey]:
        """The calls whose replies a stop has dropped."""
        entries = self._transcript.entries
        return [
            self._model.used[entries[call].body["ordinal"]]
            for entry in entries
            if entry.discarded
            and entry.kind == "message_event"
            and (call := entry.body["model_call"]) is not None
        ]

    def _scores(self, ending: Ending) -> list[NewScore]:
        trace_id = self._claimed.lease.trace_id
        if not ending.succeeded:
            return [
                NewScore(
                    trace_id=trace_id,
                    scorer=scorer.key,
                    unscored_reason=ending.reason,
                    unscored_message=ending.message,
                )
                for scorer in self._context.scorers
            ]
        context = ScoringContext(
            sample=self._claimed.columns,
            messages=tuple(self._transcript.messages),
            answer=ending.answer,
            trace=to_open_responses(self._transcript.entries) if self._context.wants_trace else {},
        )
        return [_score(trace_id, scorer, context) for scorer in self._context.scorers]


def _score(trace_id: int, scorer: Scorer, context: ScoringContext) -> NewScore:
    said = scorer.score(context)
    if isinstance(said, Unscored):
        return NewScore(
            trace_id=trace_id,
            scorer=scorer.key,
            unscored_reason=said.reason,
            unscored_message=said.message,
        )
    return NewScore(
        trace_id=trace_id,
        scorer=scorer.key,
        values=said.values,
        metadata=said.metadata,
    )
