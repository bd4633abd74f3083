"""The form of an export: which tasks, in which format, and what happens to what it cannot carry."""

from collections.abc import Sequence
from typing import Any, Final

from django import forms

from apps.tasks.exporting import EXPORT_FORMATS

ABOUT: Final = {
    "openreward": "One task a line with everything it has: the format that loses nothing.",
    "csv": "A table for spreadsheets: a column for each attribute, the conversation in one cell.",
    "parquet": "A table for data tools: a column for each attribute, the conversation as JSON.",
    "open_responses_trace": "Conversations as traces of the Open Responses API.",
    "openai_dpo": "A chosen and a rejected answer a line, to fine-tune by preference.",
    "preference_messages": "Prompt, chosen and rejected as messages, one pair a line.",
    "sharegpt": "Turns of from and value, with tools, as many trainers read them.",
    "anthropic": "Requests to the Messages API, system text and tools included.",
    "openai_chat": "Messages and tools with key, tags and attributes beside them.",
    "openai_finetune": "Only messages and tools, as a fine-tuning job takes them.",
    "inspect_dataset": "Samples with input and target, to evaluate with Inspect AI.",
    "attribute_rows": "The attributes as columns, with the conversation as a trace.",
}
"""What each format is, in a line."""


class ExportForm(forms.Form):
    field_order = ("format", "split", "status", "on_loss")
    format = forms.ChoiceField(
        choices=[(each.name, each.title) for each in EXPORT_FORMATS.values()]
    )
    status = forms.ChoiceField(
        required=False,
        choices=[
            ("", "All but archived"),
            ("ready", "Ready"),
            ("draft", "Drafts"),
            ("archived", "Archived"),
        ],
    )
    on_loss = forms.ChoiceField(
        label="A task that the format cannot carry whole",
        choices=[
            ("refuse", "is left out of the file, and listed"),
            ("leave_out", "is written without what cannot be carried, which is listed"),
        ],
        widget=forms.RadioSelect,
        initial="refuse",
    )

    def __init__(self, *args: Any, splits: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", "All splits"), *((name, name) for name in splits)]
        self.fields["split"] = forms.ChoiceField(required=False, choices=choices)

    def wanted(self) -> dict[str, Any]:
        """What was chosen as the actions take it: None for what is not narrowed."""
        chosen = self.cleaned_data
        return {
            "format": chosen["format"],
            "on_loss": chosen["on_loss"],
            "split": chosen["split"] or None,
            "status": chosen["status"] or None,
        }
