"""Forms of environments, splits and new tasks."""

from django import forms

from apps.studio.forms.fields import JsonTextField

CODE = {"class": "input--mono", "autocapitalize": "none", "spellcheck": "false"}


class EnvironmentForm(forms.Form):
    name = forms.CharField(max_length=200, help_text="As people read it.")
    slug = forms.CharField(
        max_length=64,
        label="Name in addresses",
        help_text="Lower-case letters, digits, hyphens and underscores; harnesses ask for it.",
        widget=forms.TextInput(attrs=CODE),
    )
    description = forms.CharField(
        required=False, max_length=10_000, widget=forms.Textarea(attrs={"rows": 3})
    )


class GradingForm(forms.Form):
    """What an environment says of itself, how it grades, which tools it offers."""

    name = forms.CharField(max_length=200)
    description = forms.CharField(
        required=False, max_length=10_000, widget=forms.Textarea(attrs={"rows": 3})
    )
    scorers = JsonTextField(
        shape=list,
        required=False,
        help_text="A list of scorers; the reward of an answer is the mean of their values. "
        "Templates see the task's attributes as sample.",
    )
    tools = JsonTextField(
        shape=list,
        required=False,
        help_text="A list of tools: name, kind (answer or scripted), description, input_schema, "
        "argument, is_terminal, ends_episode, config.",
    )
    offers_submit = forms.BooleanField(
        required=False,
        label="Show harnesses a submit tool beside the one that takes the closing message",
    )


class SplitForm(forms.Form):
    name = forms.CharField(max_length=64, help_text="Often train, validation or test.")
    split_type = forms.ChoiceField(
        required=False,
        label="Used for",
        choices=(
            ("", "As its name says, else validation"),
            ("train", "Training"),
            ("validation", "Validation"),
            ("test", "Testing"),
        ),
    )
