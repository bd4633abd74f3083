"""The form of an import: a file or a pasted text, and where its rows go."""

from collections.abc import Iterable
from typing import Any

from django import forms

from apps.dialogue.file_formats import AUTO, FORMATS

LARGEST_FILE = 16 * 2**20
PASTED = "pasted text"


class ImportForm(forms.Form):
    file = forms.FileField(
        required=False,
        label="File",
        help_text="JSON Lines, a JSON array or JSON objects, at most 16 MB. "
        "For more use manage.py import_tasks or the API.",
    )
    text = forms.CharField(
        required=False,
        strip=False,
        label="Or paste rows",
        widget=forms.Textarea(
            attrs={
                "rows": 8,
                "class": "input--mono",
                "spellcheck": "false",
                "placeholder": '{"messages": [{"role": "user", "content": "…"}]}',
            }
        ),
    )
    split = forms.CharField(
        max_length=64,
        initial="train",
        help_text="A new name makes a new split.",
        widget=forms.TextInput(attrs={"list": "splits", "autocomplete": "off"}),
    )
    format = forms.ChoiceField(
        choices=[(AUTO, "Recognise each row")]
        + [(name, each.title) for name, each in FORMATS.items()]
    )
    update = forms.BooleanField(
        required=False,
        label="Save rows whose key is there with other content as new revisions",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        file, text = cleaned.get("file"), cleaned.get("text", "")
        if file and text.strip():
            self.add_error("text", "There is a file too: send one of the two.")
        elif not file and not text.strip() and "file" not in self.errors:
            self.add_error("file", "Choose a file, or paste rows below.")
        elif file and file.size > LARGEST_FILE:
            self.add_error("file", "This file has more than 16 MB.")
        return cleaned

    def pieces(self) -> Iterable[bytes]:
        file = self.cleaned_data["file"]
        return file.chunks() if file else [self.cleaned_data["text"].encode()]

    def source(self) -> str:
        file = self.cleaned_data["file"]
        return str(file.name) if file else PASTED


class AcceptForm(forms.Form):
    """What the preview sends back when it is accepted."""

    token = forms.CharField(max_length=64, widget=forms.HiddenInput)
    split = forms.CharField(max_length=64, widget=forms.HiddenInput)
    format = forms.CharField(max_length=40, widget=forms.HiddenInput)
    update = forms.BooleanField(required=False, widget=forms.HiddenInput)
    source = forms.CharField(max_length=255, widget=forms.HiddenInput)
