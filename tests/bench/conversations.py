"""The conversations the benchmarks are about; invented, the same in every run."""

from typing import Any

TEXT = """the parcel left the depot on Thursday and should reach the reading room before noon
while the atlas with the torn cover goes back to the binder who asked for two more days"""
WORDS = TEXT.split()


def words(count: int, seed: int) -> str:
    return " ".join(WORDS[(seed * 7 + index * 3) % len(WORDS)] for index in range(count))


def conversation(turns: int) -> list[dict[str, Any]]:
    """``turns`` canonical wire messages, a tool call with its result in every eight."""
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        text = {"type": "text", "text": words(40, turn)}
        match turn % 8:
            case 1 | 3 | 7:
                messages.append({"role": "assistant", "blocks": [text]})
            case 5 if turn + 1 < turns:
                call = {
                    "type": "tool_call",
                    "id": f"call_{turn}",
                    "name": "find_order",
                    "input": {"order": turn},
                }
                messages.append({"role": "assistant", "blocks": [text, call]})
            case 6:
                result = {
                    "type": "tool_result",
                    "tool_call_id": f"call_{turn - 1}",
                    "blocks": [{"type": "text", "text": words(20, turn)}],
                    "is_error": False,
                }
                messages.append({"role": "user", "blocks": [result]})
            case _:
                messages.append({"role": "user", "blocks": [text]})
    return messages
