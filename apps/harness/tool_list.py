"""The body of ``/tools`` and ``/task_tools``, with exactly the keys that the clients know."""

from functools import lru_cache

from apps.dialogue.blocks import BLOCK_TYPES
from apps.episodes.tools import OfferedTool, offer
from apps.harness.answers import json_bytes
from apps.tasks.serving import ServedEnvironment


@lru_cache(maxsize=256)
def tool_list(served: ServedEnvironment) -> bytes:
    """Ready JSON. A schema is sent as its author wrote it, the order of its keys kept."""
    offered = offer(served)
    listed = b",".join(_spec(tool) for tool in offered.listed)
    rest = {
        "terminal_tool": _terminal(offered.terminal) if offered.terminal else None,
        "supports_score_group": served.environment.supports_score_group,
        "message_block_types": list(BLOCK_TYPES),
    }
    return b'{"tools":[%b],%b' % (listed, json_bytes(rest)[1:])


def _spec(tool: OfferedTool) -> bytes:
    shown = json_bytes({"name": tool.name, "description": tool.description})
    schema = tool.input_schema.encode() or b"null"
    return b'%b,"input_schema":%b}' % (shown[:-1], schema)


def _terminal(tool: OfferedTool) -> dict[str, str | None]:
    return {"name": tool.name, "arg": tool.argument, "description": tool.description}
