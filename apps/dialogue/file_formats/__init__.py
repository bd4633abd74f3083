"""The files people bring: recognised row by row, read without dropping or guessing anything.

A new format is one module here and one entry in ``FORMATS``, the most specific first.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO, Final

from apps.dialogue.column_mapping import ColumnMapping
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import file_rows
from apps.dialogue.file_formats import (
    alpaca,
    anthropic,
    arena_battle,
    argilla_records,
    attribute_rows,
    canonical,
    chatgpt_export,
    claude_export,
    csv_long,
    csv_table,
    glaive,
    google,
    hh_rlhf,
    inspect_dataset,
    inspect_log,
    kto,
    label_studio,
    langfuse_items,
    langfuse_observations,
    langsmith_examples,
    langsmith_runs,
    librechat_export,
    mt_bench,
    mt_bench_answer,
    oasst_messages,
    oasst_trees,
    open_responses_trace,
    openai_batch,
    openai_chat,
    openai_dpo,
    openai_evals,
    openai_responses,
    openwebui_export,
    preference_messages,
    preference_text,
    prompt_completion,
    ranked_answers,
    role_columns,
    role_text,
    sharegpt,
    sharegpt_preference,
    templated_text,
    text_lists,
    transcript,
    turns_column,
    ultrafeedback_raw,
    verifiers,
    wildchat,
    xlam,
)
from apps.dialogue.file_formats.base import (
    Candidate,
    Loss,
    Note,
    ReadRow,
    RowFormat,
    TaskContent,
    read_rows,
)
from apps.dialogue.file_formats.base.reading import Wishes
from apps.dialogue.file_formats.base.role_changes import parse_role_changes
from apps.dialogue.file_formats.turns.mapped_rows import read_mapped

FORMATS: Final[dict[str, RowFormat]] = {
    each.name: each
    for each in (
        canonical.FORMAT,
        role_text.FORMAT,
        chatgpt_export.FORMAT,
        claude_export.FORMAT,
        openwebui_export.FORMAT,
        librechat_export.FORMAT,
        inspect_log.FORMAT,
        langsmith_runs.FORMAT,
        langsmith_examples.FORMAT,
        langfuse_items.FORMAT,
        langfuse_observations.FORMAT,
        label_studio.FORMAT,
        argilla_records.FORMAT,
        open_responses_trace.FORMAT,
        openai_batch.FORMAT,
        openai_dpo.FORMAT,
        hh_rlhf.FORMAT,
        sharegpt_preference.FORMAT,
        preference_messages.FORMAT,
        preference_text.FORMAT,
        kto.FORMAT,
        ranked_answers.FORMAT,
        xlam.FORMAT,
        glaive.FORMAT,
        arena_battle.FORMAT,
        wildchat.FORMAT,
        sharegpt.FORMAT,
        anthropic.FORMAT,
        google.FORMAT,
        openai_responses.FORMAT,
        openai_chat.FORMAT,
        openai_chat.FINE_TUNING,
        openai_evals.FORMAT,
        inspect_dataset.FORMAT,
        verifiers.FORMAT,
        prompt_completion.FORMAT,
        mt_bench_answer.FORMAT,
        mt_bench.FORMAT,
        oasst_messages.FORMAT,
        oasst_trees.FORMAT,
        ultrafeedback_raw.FORMAT,
        templated_text.FORMAT,
        alpaca.FORMAT,
        role_columns.FORMAT,
        csv_long.FORMAT,
        csv_table.FORMAT,
        transcript.FORMAT,
        turns_column.FORMAT,
        text_lists.FORMAT,
        attribute_rows.FORMAT,
    )
}

ALIASES: Final = {
    "canonical": "openreward",
    "openai": "openai_chat",
    "dpo": "openai_dpo",
    "trl": "preference_messages",
    "trl_messages": "openai_chat",
    "latticeflow_trace": "open_responses_trace",
    "latticeflow_traces": "open_responses_trace",
    "latticeflow_rows": "attribute_rows",
    "inspect": "inspect_dataset",
}
"""Other words that people use for formats."""

AUTO = "auto"


def read_tasks(
    stream: BinaryIO | Iterable[bytes],
    *,
    format: str = AUTO,  # noqa: A002 - the word of the command line
    file_name: str = "",
    mapping: ColumnMapping | None = None,
    roles: Mapping[str, Any] | None = None,
) -> Iterator[ReadRow]:
    """Read the conversations of a file as it streams in, whatever holds them.

    ``stream`` gives bytes in pieces of any size. A row that cannot become a task comes back with a
    ``refused`` note and the rows after it go on. With a ``mapping`` every row goes through it.
    ``roles`` are changes a person made, ``{"speakers": {"Priya": "assistant"}, "turns":
    {"3:0": "user"}}``: by the name of a speaker, or by line and index of a turn. Raises
    ``ImportRefused`` at once for an unknown ``format`` and for ``roles`` of another shape.
    """
    named = ALIASES.get(format, format)
    if named != AUTO and named not in FORMATS:
        known = ", ".join([AUTO, *FORMATS])
        raise ImportRefused(f"unknown format {format!r}; there are {known}", place="format")
    forced = None if named == AUTO else named
    by_mapping = None if mapping is None else partial(read_mapped, mapping)
    wishes = Wishes(forced, by_mapping, parse_role_changes(roles))
    return read_rows(file_rows(stream, file_name), FORMATS, wishes)


__all__ = [
    "ALIASES",
    "AUTO",
    "FORMATS",
    "Candidate",
    "Loss",
    "Note",
    "ReadRow",
    "RowFormat",
    "TaskContent",
    "read_tasks",
]
