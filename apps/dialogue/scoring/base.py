"""What scorers share: what they are shown, what they say, and how they read the answer.

LatticeFlow's fields: ``key``, ``purpose``, ``metrics``, ``display_name``. A missing answer, a
template that does not render: *unscored with a reason*, never a wrong answer, never 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from apps.dialogue.errors import TemplateError
from apps.dialogue.message import Message
from apps.dialogue.scoring.metrics import AnyMetric
from apps.dialogue.specification import SpecModel, refusal
from apps.dialogue.templating import compile_template, plain_data


@dataclass(frozen=True, slots=True)
class ScoringContext:
    """What there is to score.

    ``sample`` are the task's attributes; ``answer`` is the text to score, None if there is none.
    A grader that has nothing but an answer leaves ``messages`` and ``trace`` out.
    """

    sample: Mapping[str, Any]
    messages: Sequence[Message] = ()
    answer: str | None = None
    trace: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scored:
    """``values`` by field name (the metrics read them), ``metadata`` for the reader."""

    values: dict[str, Any]
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Unscored:
    """Why there is no score.

    ``no_answer``, ``template_error``, ``empty_ground_truth`` or ``bad_pattern``.
    """

    reason: str
    message: str


def _is_template(text: str) -> str:
    try:
        compile_template(text)
    except TemplateError as error:
        raise refusal(f"the template is wrong: {error.message}") from None
    return text


JinjaText = Annotated[str, AfterValidator(_is_template)]
"""A template's text; it sees ``sample``, ``answer``, ``messages``, ``trace``, ``model_outputs``."""


class Scorer(SpecModel):
    """One scorer of a task; ``key`` is its type unless it was given one."""

    FIELDS: ClassVar[tuple[str, ...]]
    """The score fields it gives; the first one is what metrics take by default."""

    type: str
    key: str = Field(pattern=r"^[a-zA-Z0-9_\-]{1,100}$")
    display_name: str | None = None
    purpose: Literal["score", "qa"] = "score"
    metrics: tuple[AnyMetric, ...]

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, value: Any) -> Any:
        """Take the type for a missing key; the mean of the first field for missing metrics."""
        if not isinstance(value, dict):
            return value
        given = {k: v for k, v in value.items() if v is not None or k not in ("key", "metrics")}
        mean = {"type": "mean", "field": cls.FIELDS[0]}
        return {"key": given.get("type"), "metrics": [mean], **given}

    @model_validator(mode="after")
    def _check_metrics(self) -> "Scorer":
        keys: set[str] = set()
        for index, metric in enumerate(self.metrics):
            place = f".metrics[{index}]"
            if metric.key in keys:
                raise refusal(f"two metrics of this scorer have the key {metric.key!r}", place)
            keys.add(metric.key)
            for name in metric.fields:
                if name not in self.FIELDS:
                    known = ", ".join(self.FIELDS)
                    raise refusal(
                        f"{self.type} has no score field {name!r}; it gives {known}", place
                    )
        return self

    def model_keys(self) -> tuple[str, ...]:
        """The keys of the models it calls."""
        return ()

    def score(self, context: ScoringContext) -> Scored | Unscored:
        """Score one answer; never raises for what a sample or a model brought."""
        raise NotImplementedError


class AnswerScorer(Scorer):
    """A scorer that holds an answer against a ground truth, both of them texts.

    ``ground_truth`` is a template. ``value`` is one too, for scoring something else than the
    answer as it is. Both texts are compared without the white space around them: a model's
    trailing line feed is not a wrong answer. (LatticeFlow compares without stripping.)
    """

    FIELDS: ClassVar[tuple[str, ...]] = ("is_correct",)

    ground_truth: JinjaText
    value: JinjaText | None = None

    def score(self, context: ScoringContext) -> Scored | Unscored:
        if self.value is None and context.answer is None:
            return Unscored("no_answer", "the evaluated model gave no answer that was kept")
        try:
            seen = template_context(context)
            truth = compile_template(self.ground_truth).render(seen).strip()
            answer = context.answer
            if self.value is not None:
                answer = compile_template(self.value).render(seen)
        except TemplateError as error:
            return Unscored("template_error", str(error))
        return self.compare((answer or "").strip(), truth)

    def compare(self, answer: str, truth: str) -> Scored | Unscored:
        """Hold the answer against the truth, both stripped."""
        raise NotImplementedError


def verdict(is_correct: bool, *, answer: str, truth: str) -> Scored:
    """LatticeFlow's score of an equality: ``is_correct``, with both texts as metadata."""
    return Scored({"is_correct": is_correct}, {"answer_gt": truth, "answer_pred": answer})


def template_context(context: ScoringContext) -> dict[str, Any]:
    """What the templates of scorers see, as plain data.

    ``answer`` is absent when there is none, so that using it is an error and not the text "None".
    ``solver_output`` has the shape that templates written for LatticeFlow read.
    """
    messages = [{"role": each.role, "content": each.text} for each in context.messages]
    choices = [{"message": {"role": "assistant", "content": context.answer}}]
    answered = context.answer is not None
    output = {"choices": choices if answered else []}
    seen = {
        "sample": dict(context.sample),
        "messages": messages,
        "trace": dict(context.trace),
        "model_outputs": [output] if answered else [],
        "solver_output": {"messages": messages, "output": output},
    }
    return plain_data({**seen, "answer": context.answer} if answered else seen)
