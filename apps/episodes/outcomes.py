"""What a call comes to: decided from the task and the arguments alone, so deciding twice agrees.

Nothing here writes. A call that cannot be answered is a result too (``ok`` false with a reason);
only a tool that fails has no result but an error.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, assert_never

from apps.dialogue.errors import SpecError
from apps.dialogue.message import parse_message
from apps.dialogue.scoring import Scored, Scorer, ScoringContext, parse_scorers
from apps.episodes.bodies import TextCache
from apps.episodes.tools import Offer, OfferedTool, input_problem, offer
from apps.tasks.models import Revision, ToolKind
from apps.tasks.scoring import scorers_for, scripted_results
from apps.tasks.serving import ServedEnvironment, grading_texts

RECEIVED = "The answer was received."
NOT_GRADED = "The answer was received but could not be graded."
NO_RESULT = "There is no result for these arguments."


@dataclass(frozen=True, slots=True)
class Outcome:
    """``output`` is ASCII JSON as it is sent, empty if ``error`` says why the tool failed.

    ``delay_ms`` is how long the tool takes by its author's will; ``is_known`` is false if there is
    no such tool, and ``exclusive`` true if no other call of the session may run at the same time.
    """

    output: str = ""
    error: str = ""
    reward: float | None = None
    ends_episode: bool = False
    exclusive: bool = False
    is_known: bool = True
    delay_ms: int = 0


@dataclass(frozen=True, slots=True)
class Graded:
    """``reward`` is None if a scorer could not score; ``metadata`` then says why."""

    reward: float | None
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stage:
    """What decides over the calls of a session: its environment as it is now, its revision."""

    served: ServedEnvironment
    revision_id: int

    @property
    def offer(self) -> Offer:
        return offer(self.served)

    def scorers(self) -> tuple[Scorer, ...]:
        """The scorers of the task, else of the environment; raises `SpecError`."""
        revision = Revision(grader=_GRADERS.get(self.revision_id))
        return _parsed_scorers(written(scorers_for(self.served.environment, revision)))

    def attributes(self) -> dict[str, Any]:
        """The columns that the templates of scorers see."""
        attributes: dict[str, Any] = json.loads(_ATTRIBUTES.get(self.revision_id))
        return attributes

    def scripted_results(self, tool: OfferedTool) -> list[dict[str, Any]]:
        revision = Revision(scripted=_SCRIPTED.get(self.revision_id))
        return scripted_results(tool.row, revision)


def _attributes_text(revision_id: int) -> str:
    return json.dumps(json.loads(grading_texts(revision_id).content)["attributes"])


_ATTRIBUTES = TextCache(8 * 2**20, _attributes_text)
_GRADERS = TextCache(8 * 2**20, lambda pk: grading_texts(pk).grader)
_SCRIPTED = TextCache(16 * 2**20, lambda pk: grading_texts(pk).scripted)


@lru_cache(maxsize=512)
def _parsed_scorers(text: str) -> tuple[Scorer, ...]:
    return parse_scorers(json.loads(text))


def decide_call(name: str, given: dict[str, Any], stage: Stage) -> Outcome:
    """What the call comes to if the episode still goes on."""
    tool = stage.offer.find(name)
    if tool is None:
        error = f"{name!r} is not a tool of this task."
        return Outcome(output=refused("not_found", error), is_known=False)
    problem = input_problem(tool, given)
    if problem:
        return Outcome(output=refused("input_validation", problem))
    match ToolKind(tool.row.kind):
        case ToolKind.ANSWER:
            return _answered(tool, given, stage)
        case ToolKind.SCRIPTED:
            return _scripted(tool, given, stage)
        case ToolKind.MODEL | ToolKind.HTTP as kind:
            return Outcome(error=f"{name!r} is a {kind} tool, which this server does not run.")
        case other:
            assert_never(other)


def decide_group(answers: Sequence[str | None], stage: Stage) -> Outcome:
    """Grade each candidate's closing text; one that cannot be graded fails the whole group."""
    scores = []
    for number, answer in enumerate(answers):
        if answer is None:
            return Outcome(error=f"candidates[{number}] has no assistant message.")
        graded = grade(stage, answer)
        if graded.reward is None:
            reasons = ", ".join(map(str, graded.metadata["unscored"].values()))
            return Outcome(error=f"candidates[{number}] could not be graded: {reasons}.")
        scores.append({"reward": graded.reward, "metadata": graded.metadata})
    return Outcome(output=written({"scores": scores}))


def refused(reason: str, error: str) -> str:
    """The result of a call that was not run."""
    return written({"ok": False, "error": error, "reason": reason})


def finished_already(tool: str) -> str:
    return refused("episode_finished", f"{tool!r} was not run: the episode has finished.")


def written(value: object) -> str:
    """Compact ASCII JSON: no line of it can be split or eaten on its way to a client."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _answered(tool: OfferedTool, given: dict[str, Any], stage: Stage) -> Outcome:
    graded = grade(stage, None if tool.argument is None else _text_of(given.get(tool.argument)))
    ends = tool.row.ends_episode
    output = {
        "blocks": [_text(NOT_GRADED if graded.reward is None else RECEIVED)],
        "metadata": graded.metadata,
        "reward": graded.reward,
        "finished": ends,
    }
    return Outcome(
        output=written({"ok": True, "output": output}),
        reward=graded.reward,
        ends_episode=ends,
        exclusive=tool.row.is_terminal,
    )


def _text_of(value: object) -> str:
    """The text that is graded: an argument that is no text is graded as its JSON.

    A NUL, which no text of ours can hold, is graded as the character that stands for such.
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}")


def grade(stage: Stage, answer: str | None) -> Graded:
    """Run the task's scorers over ``answer``: the reward is the mean of what they say."""
    try:
        scorers = stage.scorers()
    except SpecError as error:
        return Graded(None, {"unscored": {"scorers": str(error)}})
    if not scorers:
        return Graded(None, {"unscored": {"scorers": "this task has no scorer"}})
    context = ScoringContext(sample=stage.attributes(), answer=answer)
    said = {scorer.key: (scorer, scorer.score(context)) for scorer in scorers}
    scores = {key: each.values for key, (_, each) in said.items() if isinstance(each, Scored)}
    unscored = {key: e.reason for key, (_, e) in said.items() if not isinstance(e, Scored)}
    if unscored:
        return Graded(None, {"scores": scores, "unscored": unscored})
    rewards = [float(scores[key][scorer.FIELDS[0]]) for key, (scorer, _) in said.items()]
    return Graded(sum(rewards) / len(rewards), {"scores": scores})


def _scripted(tool: OfferedTool, given: dict[str, Any], stage: Stage) -> Outcome:
    results = stage.scripted_results(tool)
    entry = next((each for each in results if _equal(each["input"], given)), None)
    if entry is None:
        return Outcome(output=_succeeded([_text(NO_RESULT)]))
    delay = int(entry.get("delay_ms", 0))
    if "raise" in entry:
        return Outcome(error=str(entry["raise"]) or "The tool failed.", delay_ms=delay)
    message = parse_message({"role": "user", "blocks": entry["blocks"]})
    return Outcome(output=_succeeded(message.to_wire()["blocks"]), delay_ms=delay)


def _succeeded(blocks: list[dict[str, Any]]) -> str:
    output = {"blocks": blocks, "metadata": None, "reward": None, "finished": False}
    return written({"ok": True, "output": output})


def _text(text: str) -> dict[str, Any]:
    return {"text": text, "detail": None, "type": "text"}


def _equal(one: object, other: object) -> bool:
    """Equality of JSON values: the order of keys does not matter, true is not 1, 1.0 is 1."""
    match one:
        case bool() | None | str():
            return type(one) is type(other) and one == other
        case int() | float():
            is_number = isinstance(other, int | float) and not isinstance(other, bool)
            return is_number and one == other
        case list():
            if not isinstance(other, list) or len(one) != len(other):
                return False
            return all(map(_equal, one, other))
        case dict():
            if not isinstance(other, dict) or one.keys() != other.keys():
                return False
            return all(_equal(each, other[key]) for key, each in one.items())
        case _:
            return False
