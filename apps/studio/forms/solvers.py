"""The form of a solver: one text."""

from django import forms


class SolverForm(forms.Form):
    text = forms.CharField(
        label="Specification",
        strip=False,
        max_length=1_000_000,
        widget=forms.Textarea(attrs={"rows": 28, "class": "input--mono", "spellcheck": "false"}),
    )
