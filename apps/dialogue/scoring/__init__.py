"""Scorers: one module each, one entry in ``AnyScorer`` and ``SCORERS``.

Names, fields and formulas are LatticeFlow's where it has them; ``includes`` and ``regex`` are ours.
"""

from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter

from apps.dialogue.errors import SpecError
from apps.dialogue.scoring.base import Scored, Scorer, ScoringContext, Unscored
from apps.dialogue.scoring.includes import Includes
from apps.dialogue.scoring.regex import Regex
from apps.dialogue.scoring.string_equals import StringEquals
from apps.dialogue.specification import read

AnyScorer = Annotated[StringEquals | Includes | Regex, Field(discriminator="type")]

SCORERS: Final[dict[str, type[Scorer]]] = {
    "string_equals": StringEquals,
    "includes": Includes,
    "regex": Regex,
}

_SCORER: Final[TypeAdapter[Any]] = TypeAdapter(AnyScorer)
_SCORERS: Final[TypeAdapter[Any]] = TypeAdapter(tuple[AnyScorer, ...])


def parse_scorer(raw: object, place: str = "") -> Scorer:
    """Read one scorer; raises ``SpecError``."""
    scorer: Scorer = read(_SCORER, raw, place)
    return scorer


def parse_scorers(raw: object, place: str = "scorers") -> tuple[Scorer, ...]:
    """Read a task's scorers; raises ``SpecError``, also for two with one key.

    Scorers without a key are named by their type, the second one ``string_equals_2``.
    """
    scorers: tuple[Scorer, ...] = read(_SCORERS, raw, place)
    unnamed = [isinstance(each, dict) and not each.get("key") for each in _listed(raw)]
    taken = {scorer.key for scorer, bare in zip(scorers, unnamed, strict=True) if not bare}
    named: list[Scorer] = []
    seen: set[str] = set()
    for index, (scorer, bare) in enumerate(zip(scorers, unnamed, strict=True)):
        if bare:
            named.append(scorer.model_copy(update={"key": _free_key(scorer.type, taken)}))
            taken.add(named[-1].key)
        elif scorer.key in seen:
            message = f"two scorers have the key {scorer.key!r}"
            raise SpecError(message, place=f"{place}[{index}].key")
        else:
            named.append(scorer)
            seen.add(scorer.key)
    return tuple(named)


def _listed(raw: object) -> list[Any]:
    return list(raw) if isinstance(raw, list | tuple) else []


def _free_key(name: str, taken: set[str]) -> str:
    key, number = name, 2
    while key in taken:
        key, number = f"{name}_{number}", number + 1
    return key


__all__ = [
    "SCORERS",
    "AnyScorer",
    "Scored",
    "Scorer",
    "ScoringContext",
    "Unscored",
    "parse_scorer",
    "parse_scorers",
]
