"""Turns in the shapes that several file formats have them: read, written and compared."""

from apps.dialogue.file_formats.turns.call_ids import CallIds
from apps.dialogue.file_formats.turns.chat_turns import read_turns
from apps.dialogue.file_formats.turns.human_assistant import (
    is_transcript,
    read_transcript,
    split_prompt,
)
from apps.dialogue.file_formats.turns.inspect_messages import inspect_turns, write_inspect_messages
from apps.dialogue.file_formats.turns.message_trees import (
    MessageTree,
    branch_rows,
    make_tree,
    note_left_out,
    note_orphans,
)
from apps.dialogue.file_formats.turns.pair_writing import WrittenPair, check_pair, pairs_of
from apps.dialogue.file_formats.turns.placed_turns import (
    PlacedTurn,
    call_part,
    decoded,
    placed,
    plain_turns,
    read_placed_turns,
    reasoning_part,
    result_turn,
    text_part,
)
from apps.dialogue.file_formats.turns.placeholders import with_images
from apps.dialogue.file_formats.turns.preference_pairs import (
    PAIR_COLUMNS,
    Pair,
    Side,
    common_prefix,
    pair_candidates,
    pair_columns,
    read_answer,
    read_pair,
    side_of,
    split_pair,
    split_reply,
)
from apps.dialogue.file_formats.turns.recorded_calls import (
    Recorded,
    as_tools,
    fingerprint,
    read_answered,
    read_asked,
)
from apps.dialogue.file_formats.turns.reply_trees import (
    ReplyNode,
    ReplyTree,
    branch_attribute,
    read_path,
    split_tree,
)
from apps.dialogue.file_formats.turns.response_items import item_type, read_response_items
from apps.dialogue.file_formats.turns.sharegpt_turns import (
    is_turn_pair,
    read_dialogue,
)
from apps.dialogue.file_formats.turns.tagged_calls import (
    CALL_TAGS,
    RESULT_TAGS,
    Tagged,
    calls_of_tools,
    tagged,
    written_calls,
)
from apps.dialogue.file_formats.turns.text_turns import (
    Question,
    is_said,
    question_column,
    read_question,
    text_turn,
)
from apps.dialogue.file_formats.turns.tool_lists import (
    with_tools,
    write_anthropic_tools,
    write_openai_tools,
)
from apps.dialogue.file_formats.turns.trace_columns import (
    TRACE_COLUMN,
    read_trace_column,
    trace_items,
    write_trace,
)
from apps.dialogue.file_formats.turns.turn_writing import write_turns

__all__ = [
    "CALL_TAGS",
    "PAIR_COLUMNS",
    "RESULT_TAGS",
    "TRACE_COLUMN",
    "CallIds",
    "MessageTree",
    "Pair",
    "PlacedTurn",
    "Question",
    "Recorded",
    "ReplyNode",
    "ReplyTree",
    "Side",
    "Tagged",
    "WrittenPair",
    "as_tools",
    "branch_attribute",
    "branch_rows",
    "call_part",
    "calls_of_tools",
    "check_pair",
    "common_prefix",
    "decoded",
    "fingerprint",
    "inspect_turns",
    "is_said",
    "is_transcript",
    "is_turn_pair",
    "item_type",
    "make_tree",
    "note_left_out",
    "note_orphans",
    "pair_candidates",
    "pair_columns",
    "pairs_of",
    "placed",
    "plain_turns",
    "question_column",
    "read_answer",
    "read_answered",
    "read_asked",
    "read_dialogue",
    "read_pair",
    "read_path",
    "read_placed_turns",
    "read_question",
    "read_response_items",
    "read_trace_column",
    "read_transcript",
    "read_turns",
    "reasoning_part",
    "result_turn",
    "side_of",
    "split_pair",
    "split_prompt",
    "split_reply",
    "split_tree",
    "tagged",
    "text_part",
    "text_turn",
    "trace_items",
    "with_images",
    "with_tools",
    "write_anthropic_tools",
    "write_inspect_messages",
    "write_openai_tools",
    "write_trace",
    "write_turns",
    "written_calls",
]
