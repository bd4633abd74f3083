"""Forms of projects, members and keys. They know a form's shape; the rooms know the rules."""

from datetime import UTC, datetime, time
from typing import Any

from django import forms

ROLES = (
    ("viewer", "Viewer: reads everything"),
    ("annotator", "Annotator: also reviews"),
    ("author", "Author: also writes tasks, solvers and runs"),
    ("admin", "Admin: also manages members, keys and models"),
)
SCOPES = (
    ("harness", "Serve harnesses: fetch tasks and grade answers, over the OpenReward protocol"),
    ("read", "Read everything, over the management API"),
    ("write", "Write tasks and launch runs"),
    ("admin", "Manage the project"),
)


class ProjectForm(forms.Form):
    name = forms.CharField(max_length=200, help_text="As people read it.")
    slug = forms.CharField(
        max_length=64,
        label="Name in addresses",
        help_text="Lower-case letters, digits, hyphens and underscores. Harnesses ask for "
        "name/environment; it stays as it is.",
        widget=forms.TextInput(
            attrs={"class": "input--mono", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )


class MemberForm(forms.Form):
    username = forms.CharField(
        max_length=150,
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )
    role = forms.ChoiceField(choices=ROLES, initial="annotator")


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=ROLES)


class ApiKeyForm(forms.Form):
    name = forms.CharField(max_length=100, help_text="What will use it, like “trainer on node 3”.")
    scopes = forms.MultipleChoiceField(
        choices=SCOPES,
        initial=["harness"],
        widget=forms.CheckboxSelectMultiple,
        label="It may",
    )
    expires_at = forms.DateField(
        required=False,
        label="Last day",
        help_text="Leave empty for a key that works until it is revoked.",
        widget=forms.DateInput(attrs={"type": "date"}),
    )

    def clean_expires_at(self) -> Any:
        """The end (UTC) of the chosen day."""
        day = self.cleaned_data["expires_at"]
        if day is None:
            return None
        end = datetime.combine(day, time.max, tzinfo=UTC)
        if end <= datetime.now(tz=UTC):
            raise forms.ValidationError("This day has passed.")
        return end
