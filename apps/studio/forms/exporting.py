"""The form of an export: which tasks, in which format, and what happens to what it cannot carry."""

from collections.abc import Sequence
from typing import Any

from django import forms

from apps.tasks.exporting import EXPORT_FORMATS


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
