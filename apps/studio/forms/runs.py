"""The form that launches a run; the fields of a solver's parameters are made from its spec."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from apps.studio.forms.fields import json_shown

CONFIG = "config-"
"""What the names of the fields of parameters begin with."""

CODE = {"class": "input--mono", "spellcheck": "false", "autocapitalize": "none"}
ALL_SPLITS = ""


class RunForm(forms.Form):
    """``tasks`` is ``environment/split``; an empty split stands for all of them."""

    name = forms.CharField(
        required=False, max_length=200, help_text="What you want to find out, for the list of runs."
    )
    tasks = forms.ChoiceField(label="Tasks")
    solver = forms.ChoiceField()
    evaluated = forms.ChoiceField(label="Evaluated model")
    trials = forms.IntegerField(
        initial=1, min_value=1, max_value=1000, help_text="How often each task is played."
    )
    limit = forms.IntegerField(
        required=False, min_value=1, label="At most", help_text="Tasks; empty for all."
    )

    def __init__(
        self,
        *args: Any,
        environments: Iterable[Any],
        solvers: Iterable[tuple[str, str]],
        endpoints: Iterable[tuple[str, str]],
        parameters: Iterable[Any] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        models = list(endpoints)
        self._choose("tasks", [_splits_of(row) for row in environments])
        self._choose("solver", list(solvers))
        self._choose("evaluated", models)
        self.parameter_keys = []
        for parameter in parameters:
            self.fields[CONFIG + parameter.key] = parameter_field(parameter, models)
            self.parameter_keys.append(parameter.key)

    def _choose(self, name: str, choices: list[Any]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = choices

    def parameters(self) -> list[forms.BoundField]:
        return [self[CONFIG + key] for key in self.parameter_keys]

    def config(self) -> dict[str, Any]:
        """The values that were given; an empty field leaves the parameter its default."""
        given = {key: self.cleaned_data[CONFIG + key] for key in self.parameter_keys}
        return {key: value for key, value in given.items() if value not in ("", [], None)}

    def places(self) -> Mapping[str, str]:
        """Where refusals of a launch belong in this form."""
        return {
            **{f"config.{key}": CONFIG + key for key in self.parameter_keys},
            "environment": "tasks",
            "split": "tasks",
            "spec": "solver",
            "endpoint": "evaluated",
        }


def _splits_of(environment: Any) -> tuple[str, list[tuple[str, str]]]:
    slug = environment.slug
    splits = [
        (f"{slug}/{split.name}", f"{slug} / {split.name} ({split.ready_count} ready)")
        for split in environment.splits.all()
    ]
    if len(splits) > 1:
        splits.append((f"{slug}/{ALL_SPLITS}", f"{slug} / all splits"))
    return environment.name, splits


def parameter_field(parameter: Any, models: list[tuple[str, str]]) -> forms.Field:
    """The field of one parameter; the room checks the value, this only knows its form."""
    shared: dict[str, Any] = {
        "label": parameter.display_name,
        "help_text": parameter.description or "",
        "initial": parameter.default_value,
        "required": parameter.default_value is None and not parameter.nullable,
    }
    match parameter.type:
        case "model":
            return forms.ChoiceField(choices=_with_default(models, parameter), **shared)
        case "categorical":
            choices = [(value, value) for value in parameter.allowed_values]
            if parameter.multiple:
                return forms.MultipleChoiceField(
                    choices=choices, widget=forms.CheckboxSelectMultiple, **shared
                )
            return forms.ChoiceField(choices=_or_nothing(choices, parameter), **shared)
        case "boolean":
            shared["initial"] = str(parameter.default_value).lower()
            choices = [("true", "Yes"), ("false", "No")]
            return forms.ChoiceField(choices=_or_nothing(choices, parameter), **shared)
        case "int" | "float":
            numeric = {"inputmode": "decimal", "class": "input--mono"}
            return forms.CharField(widget=forms.TextInput(attrs=numeric), **shared)
        case "list" | "dict":
            shared["initial"] = (
                "" if parameter.default_value is None else json_shown(parameter.default_value)
            )
            shared["help_text"] = shared["help_text"] or "As JSON."
            return forms.CharField(widget=_area(3), strip=False, **shared)
        case _:
            long = "\n" in str(parameter.default_value or "")
            return forms.CharField(
                widget=_area(5) if long else forms.TextInput(attrs=CODE), strip=False, **shared
            )


def _area(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={**CODE, "rows": rows})


def _or_nothing(choices: list[tuple[str, str]], parameter: Any) -> list[tuple[str, str]]:
    return [("", "Not set"), *choices] if parameter.default_value is None else choices


def _with_default(models: list[tuple[str, str]], parameter: Any) -> list[tuple[str, str]]:
    """The endpoints there are; a default that does not exist yet is offered and said so."""
    default = parameter.default_value
    if default is None:
        return [("", "Choose a model"), *models]
    if default in [key for key, _ in models]:
        return models
    return [(default, f"{default} (does not exist here)"), *models]
