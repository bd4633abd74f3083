"""`manage.py run_evaluation SPEC --project P --model KEY`: launch a run, wait for it, judge it.

Exit codes: 0 passed (or launched), 1 a gate is closed, 2 the specification or an argument is wrong,
3 interrupted or incomplete, which is also a run of which not one sample was scored.
"""

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts.errors import Invalid, Refusal
from apps.accounts.models import Project
from apps.accounts.permissions import OPERATOR
from apps.accounts.queries import get_project
from apps.dialogue.errors import DialogueError
from apps.dialogue.solver.ending import SUCCESSES
from apps.dialogue.solver.spec import parse_task_spec, resolve
from apps.runs.actions import launch, save_spec, values_for
from apps.runs.evaluation import Evaluation
from apps.runs.gates import Gate, parse_gate
from apps.runs.models import Run, RunState
from apps.runs.preflight import RunPreflight, preflight_run
from apps.runs.queries import faults, progress
from apps.runs.results import metric_keys, resolved_task
from apps.tasks.models import Environment
from apps.tasks.queries import get_environment, get_split

GATE_CLOSED: Final = 1
WRONG: Final = 2
INCOMPLETE: Final = 3

LONGEST_MESSAGE: Final = 300
MOST_REFUSALS: Final = 5


class Command(BaseCommand):
    help = (
        "Play a specification (a task.yaml) over the tasks of an environment. With --wait, exits "
        "0 if all gates are open, 1 if one is closed, 3 if the run was interrupted or not one "
        "sample could be scored; 2 for a wrong specification or argument."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("spec", help="the specification's file")
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument("--model", required=True, help="the key of the evaluated endpoint")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a value of config_spec; may be repeated",
        )
        parser.add_argument("--environment", default="", help="default: the spec's dataset key")
        parser.add_argument("--split", default="", help="default: every split")
        parser.add_argument("--limit", type=int, default=None, help="the most tasks to take")
        parser.add_argument("--trials", type=int, default=None, help="how often each is played")
        parser.add_argument("--concurrency", type=int, default=64, help="conversations at once")
        parser.add_argument("--name", default="", help="what people read")
        parser.add_argument("--wait", action="store_true", help="until the run has ended")
        parser.add_argument("--json", action="store_true", help="the results as the last line")
        parser.add_argument(
            "--gate",
            action="append",
            default=[],
            metavar="METRIC>=BOUND",
            help="the run passes if this holds; may be repeated",
        )
        parser.add_argument(
            "--min-coverage", type=float, default=None, metavar="X", help="0 to 1: scored / all"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        gates: list[Gate] = []
        try:
            run, gates = _launch(options, self.stderr.write)
        except Refusal as refusal:
            place = f"{refusal.place}: " if refusal.place else ""
            raise CommandError(f"{place}{refusal.message}", returncode=WRONG) from None
        except DialogueError as error:
            raise CommandError(f"{options['spec']}: {error}", returncode=WRONG) from None
        self.stderr.write(f"run {run.number} of {run.project.slug}: {run.samples_total} samples")
        if not options["wait"]:
            self._report(run, progress(run), as_json=options["json"])
            return
        evaluation = Evaluation(OPERATOR, run, _Bar(self).show)
        with _interruptions(evaluation):
            seen = evaluation.wait()
        code = self._judge(run, seen, gates, options["min_coverage"])
        self._report(run, seen, as_json=options["json"])
        if code:
            sys.exit(code)

    def _judge(self, run: Run, seen: dict[str, Any], gates: list[Gate], least: float | None) -> int:
        if seen["state"] != RunState.FINISHED:
            self.stderr.write(f"The run is {seen['state']}. {seen['error']}".rstrip())
            return INCOMPLETE
        failures = [failure for gate in gates if (failure := gate.failure(seen["metrics"]))]
        coverage = _coverage(seen)
        if least is not None and coverage < least:
            failures.append(f"coverage is {coverage:.4f}, less than {least:g}")
        for failure in failures:
            self.stderr.write(f"Gate closed: {failure}")
        is_unscored = bool(resolved_task(run).scorers) and not seen["scored"]
        if is_unscored:
            self.stderr.write(f"Not one of {seen['total']} samples was scored:")
            self.stderr.write("\n".join(_fault_lines(run)))
        if failures:
            return GATE_CLOSED
        return INCOMPLETE if is_unscored else 0

    def _report(self, run: Run, seen: dict[str, Any], *, as_json: bool) -> None:
        if not as_json:
            self.stdout.write("\n".join(_lines(run, seen)))
            return
        metrics = {
            each["key"]: {name: each[name] for name in ("value", "n", "low", "high")}
            for each in seen["metrics"]
        }
        found = {
            "run": run.number,
            "status": seen["state"],
            "samples": seen["total"],
            "scored": seen["scored"],
            "coverage": _coverage(seen),
            "calls": seen["calls"],
            "cost": float(seen["cost"]),
            "metrics": metrics,
            "ended": seen["ended"],
        }
        self.stdout.write(json.dumps(found))


def _launch(options: dict[str, Any], warn: Callable[[str], Any]) -> tuple[Run, list[Gate]]:
    """Check everything there is to check, warn of what the models will refuse, then launch."""
    text = _read(options["spec"])
    values = dict(_assignment(each) for each in options["set"])
    project = get_project(OPERATOR, options["project"])
    spec = parse_task_spec(text)
    name = options["environment"] or resolve(spec, values).dataset.key
    environment = _environment(project, name)
    task = resolve(spec, values_for(spec, values, environment))
    known = list(metric_keys(task.scorers).values())
    gates = [parse_gate(each, known) for each in options["gate"]]
    least = options["min_coverage"]
    if least is not None and not 0 <= least <= 1:
        raise Invalid("must be between 0 and 1.", place="min-coverage")
    if (gates or least is not None) and not options["wait"]:
        raise Invalid("A gate needs --wait: it is judged when the run has ended.", place="gate")
    split = get_split(OPERATOR, environment, options["split"]) if options["split"] else None
    played: dict[str, Any] = {
        "actor": OPERATOR,
        "project": project,
        "environment": environment,
        "split": split,
        "spec": save_spec(actor=OPERATOR, project=project, text=text),
        "evaluated": options["model"],
        "config": values,
        "limit": options["limit"],
    }
    for line in _refusal_lines(preflight_run(**played)):
        warn(line)
    run = launch(
        **played,
        trials=options["trials"],
        name=options["name"],
        concurrency=options["concurrency"],
    )
    return run, gates


def _refusal_lines(found: RunPreflight) -> Iterator[str]:
    """What the models would refuse, in words; nothing if there is nothing."""
    of = f"of {found.checked} tasks" + ("" if found.is_complete else f" (of {found.total})")
    for count, certain, fault in (
        (found.refused, True, f"cannot be sent to {found.model}; their samples cost nothing"),
        (found.doubtful, False, "may be refused by the API, or go out changed"),
    ):
        if not count:
            continue
        yield f"{count} {of} {fault}:"
        shown = [each for each in found.tasks if each.certain == certain][:MOST_REFUSALS]
        for each in shown:
            place = f"{each.problem.place}: " if each.problem.place else ""
            yield f"  {each.key}: {place}{each.problem.message}"
        if count > len(shown):
            yield f"  and {count - len(shown)} more"


def _read(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}", returncode=WRONG) from None
    except UnicodeDecodeError:
        raise CommandError(f"{name} is not UTF-8 text.", returncode=WRONG) from None


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise CommandError(f"--set takes NAME=VALUE, not {text!r}.", returncode=WRONG)
    return name, value


def _environment(project: Project, name: str | None) -> Environment:
    """The environment called ``project/environment``, or by its slug alone."""
    if not name:
        raise Invalid("The spec names several datasets; say which.", place="environment")
    owner, slash, slug = name.rpartition("/")
    if slash and owner != project.slug:
        raise Invalid(
            f"{name!r} is not an environment of {project.slug!r}; name one with --environment.",
            place="environment",
        )
    return get_environment(OPERATOR, project, slug)


def _coverage(seen: dict[str, Any]) -> float:
    return seen["scored"] / seen["total"] if seen["total"] else 0.0


def _fault_lines(run: Run) -> Iterator[str]:
    for fault in faults(run):
        said = " ".join(fault.message.split())
        if len(said) > LONGEST_MESSAGE:
            said = f"{said[:LONGEST_MESSAGE]}..."
        mostly = f", most often: {said}" if said else ""
        reason = fault.reason if fault.is_end else f"not scored, {fault.reason}"
        yield f"  {reason}: {fault.count}{mostly}"


def _lines(run: Run, seen: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{seen['state']}: {seen['done']} of {seen['total']} samples done, {seen['scored']} scored "
        f"({_coverage(seen):.1%}), {seen['calls']} calls, cost {seen['cost']:.6f}"
    )
    if seen["calls_unknown"]:
        yield f"{seen['calls_unknown']} calls have an unknown outcome and may have been charged"
    for reason, count in sorted(seen["ended"].items()):
        if reason in SUCCESSES:
            yield f"  {reason}: {count}"
    yield from _fault_lines(run)
    for each in seen["metrics"]:
        if each["value"] is None:
            yield f"{each['key']}: no value"
        else:
            sure = "" if each["low"] is None else f" ({each['low']:.4f} to {each['high']:.4f})"
            yield f"{each['key']}: {each['value']:.4f}{sure}, n={each['n']}"


class _Bar:
    """A progress bar on a terminal, silent elsewhere."""

    WIDTH = 30

    def __init__(self, command: BaseCommand) -> None:
        self._out = command.stderr
        self._is_shown = bool(self._out.isatty())

    def show(self, seen: dict[str, Any]) -> None:
        if not self._is_shown:
            return
        filled = self.WIDTH * seen["done"] // max(seen["total"], 1)
        bar = "#" * filled + "." * (self.WIDTH - filled)
        text = f"\r[{bar}] {seen['done']}/{seen['total']}, {seen['calls']} calls "
        self._out.write(text, ending="" if seen["open"] else "\n")
        self._out.flush()


@contextmanager
def _interruptions(evaluation: Evaluation) -> Iterator[None]:
    """Ctrl-C and SIGTERM cancel the run; a second one ends this process at once."""

    def handle(number: int, frame: object) -> None:
        if evaluation.interrupted.is_set():
            raise KeyboardInterrupt
        evaluation.interrupted.set()

    kinds = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(kind, handle) for kind in kinds]
    try:
        yield
    finally:
        for kind, former in zip(kinds, before, strict=True):
            signal.signal(kind, former)
