"""What the file formats share; a format imports this and no other format."""

from apps.dialogue.candidates import Candidate
from apps.dialogue.file_containers import Note, NoteKind, Row
from apps.dialogue.file_formats.base.call_ids import CallIds
from apps.dialogue.file_formats.base.chat_turns import read_turns
from apps.dialogue.file_formats.base.human_assistant import (
    is_transcript,
    read_transcript,
)
from apps.dialogue.file_formats.base.inspect_messages import (
    inspect_turns,
    write_inspect_messages,
)
from apps.dialogue.file_formats.base.message_trees import (
    MessageTree,
    branch_rows,
    make_tree,
    note_left_out,
    note_orphans,
)
from apps.dialogue.file_formats.base.pair_writing import WrittenPair, check_pair, pairs_of
from apps.dialogue.file_formats.base.placed_turns import (
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
from apps.dialogue.file_formats.base.placeholders import with_images
from apps.dialogue.file_formats.base.preference_pairs import (
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
from apps.dialogue.file_formats.base.reading import read_rows
from apps.dialogue.file_formats.base.recorded_calls import (
    Recorded,
    as_tools,
    fingerprint,
    read_answered,
    read_asked,
)
from apps.dialogue.file_formats.base.reply_trees import (
    ReplyNode,
    ReplyTree,
    branch_attribute,
    read_path,
    split_tree,
)
from apps.dialogue.file_formats.base.response_items import item_type, read_response_items
from apps.dialogue.file_formats.base.row_writing import check_written, row_of
from apps.dialogue.file_formats.base.rows import (
    Loss,
    ReadRow,
    RowFormat,
    TaskContent,
    content_of,
    joined,
    role_letters,
)
from apps.dialogue.file_formats.base.sharegpt_turns import (
    is_turn_pair,
    read_dialogue,
    tools_beside,
)
from apps.dialogue.file_formats.base.tagged_calls import (
    CALL_TAGS,
    RESULT_TAGS,
    Tagged,
    calls_of_tools,
    tagged,
    written_calls,
)
from apps.dialogue.file_formats.base.text_turns import (
    Question,
    is_said,
    question_column,
    read_question,
    text_turn,
)
from apps.dialogue.file_formats.base.tool_lists import (
    with_tools,
    write_anthropic_tools,
    write_openai_tools,
)
from apps.dialogue.file_formats.base.trace_columns import (
    TRACE_COLUMN,
    read_trace_column,
    trace_items,
    write_trace,
)
from apps.dialogue.file_formats.base.turn_writing import write_turns

__all__ = [
    "CALL_TAGS",
    "PAIR_COLUMNS",
    "RESULT_TAGS",
    "TRACE_COLUMN",
    "CallIds",
    "Candidate",
    "Loss",
    "MessageTree",
    "Note",
    "NoteKind",
    "Pair",
    "PlacedTurn",
    "Question",
    "ReadRow",
    "Recorded",
    "ReplyNode",
    "ReplyTree",
    "Row",
    "RowFormat",
    "Side",
    "Tagged",
    "TaskContent",
    "WrittenPair",
    "as_tools",
    "branch_attribute",
    "branch_rows",
    "call_part",
    "calls_of_tools",
    "check_pair",
    "check_written",
    "common_prefix",
    "content_of",
    "decoded",
    "fingerprint",
    "inspect_turns",
    "is_said",
    "is_transcript",
    "is_turn_pair",
    "item_type",
    "joined",
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
    "read_rows",
    "read_trace_column",
    "read_transcript",
    "read_turns",
    "reasoning_part",
    "result_turn",
    "role_letters",
    "row_of",
    "side_of",
    "split_pair",
    "split_reply",
    "split_tree",
    "tagged",
    "text_part",
    "text_turn",
    "tools_beside",
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
