"""A small stage to play builders on."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.dialogue.scripted_model import ScriptedModel
from apps.dialogue.solver.ending import Ending
from apps.dialogue.solver.engine import play
from apps.dialogue.solver.spec import MultiTurnSolver, parse_solver
from apps.dialogue.trace import Transcript

Builder = dict[str, Any]

GENERATE: Builder = {"type": "generate"}


def say(content: str, role: str = "user", **more: Any) -> Builder:
    return {"type": "chat_message", "role": role, "content": content, **more}


def judge(*extra: str, **more: Any) -> Builder:
    """A simulated user that stops at <done>."""
    return {
        "type": "generate_message",
        "model_key": "judge",
        "extra_input_messages": [say(text) for text in extra or ("X",)],
        "output_role": "user",
        "terminate_if": {"includes": "<done>", "keep_iteration": False},
        **more,
    }


def loop(*builders: Builder, times: int = 3, cap: str = "continue") -> Builder:
    return {
        "type": "loop",
        "max_iterations": times,
        "on_max_iterations": cap,
        "message_builders": list(builders),
    }


def solver(*builders: Builder, **more: Any) -> MultiTurnSolver:
    return parse_solver({"type": "multi_turn_solver", "message_builders": list(builders), **more})


@dataclass
class Played:
    ending: Ending
    model: ScriptedModel
    transcript: Transcript

    @property
    def said(self) -> list[str]:
        return [f"{each.role[0]}:{each.text}" for each in self.transcript.messages]

    @property
    def asked(self) -> list[list[str]]:
        """What each request sent."""
        return [
            [f"{each.role[0]}:{each.text}" for each in request.messages]
            for request in self.model.requests
        ]


def play_builders(
    *builders: Builder,
    sample: Mapping[str, Any] | None = None,
    main: list[Any] | None = None,
    others: Mapping[str, list[Any]] | None = None,
) -> Played:
    model = ScriptedModel({"main": main or [], **(others or {})})
    transcript = Transcript()
    sample = {"q": "Q"} if sample is None else sample
    ending = asyncio.run(play(solver(*builders), sample, model, transcript))
    return Played(ending, model, transcript)
