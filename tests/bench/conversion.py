"""Converting one stored conversation: ours checks every rule, the peer's converts what it knows."""

from openreward.api.environments.client import _parse_blocks, convert_messages
from openreward.api.environments.types import Message as PeerMessage
from openreward.environments.types import Message as ServerMessage

from apps.dialogue.message import parse_conversation
from apps.dialogue.provider_formats import convert
from tests.bench.conversations import conversation
from tests.bench.measuring import interleaved, seconds_each, table

ROUNDS, TIMES = 7, 60


def run() -> None:
    wire = conversation(40)
    ours = parse_conversation(wire)
    theirs = [PeerMessage(role=each["role"], blocks=_parse_blocks(each["blocks"])) for each in wire]
    rows = []
    for name in ("openai", "openrouter", "anthropic", "google"):
        figures = interleaved(
            ROUNDS,
            {
                "ours": lambda name=name: seconds_each(lambda: convert(ours, name), TIMES),
                "peer": lambda name=name: seconds_each(
                    lambda: convert_messages(theirs, name), TIMES
                ),
            },
        )
        rows.append(_row(name, figures))
    reading = interleaved(
        ROUNDS,
        {
            "ours": lambda: seconds_each(lambda: parse_conversation(wire), TIMES),
            "peer": lambda: seconds_each(
                lambda: [ServerMessage.model_validate(message) for message in wire], TIMES
            ),
        },
    )
    rows.append(_row("parse the wire", reading))
    table(["40 turns", "ours / peer", "ours", "peer"], rows)


def _row(name: str, figures: dict[str, float]) -> list[str]:
    ours, peer = figures["ours"], figures["peer"]
    return [name, f"{ours / peer:.2f}", f"{ours * 1e3:.3f} ms", f"{peer * 1e3:.3f} ms"]
