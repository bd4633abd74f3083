"""Template tags of the studio: icons, figures, times and texts."""

from functools import lru_cache
from pathlib import Path

from django import template
from django.conf import settings
from django.forms import (
    BoundField,
    CheckboxInput,
    CheckboxSelectMultiple,
    RadioSelect,
    Select,
)
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.studio import figures

register = template.Library()


@lru_cache(maxsize=1)
def _sprite(version_file: Path, changed: float) -> str:
    return f"{static('dist/icons.svg')}?v={version_file.read_text('ascii')}"


@register.simple_tag
def icon_sprite() -> str:
    """Address of the sprite, with its version, so that it may be cached for ever."""
    version_file = Path(str(settings.DJANGO_VITE["default"]["manifest_path"])).with_name(
        "icons.version"
    )
    if not version_file.exists():
        return static("dist/icons.svg")
    return _sprite(version_file, version_file.stat().st_mtime)


@register.simple_tag
def icon(name: str) -> SafeString:
    """A Lucide icon of the sprite, for decoration only: its meaning has to stand beside it."""
    return format_html(
        '<svg class="icon" aria-hidden="true" focusable="false"><use href="{}#{}"></use></svg>',
        icon_sprite(),
        name,
    )


@register.filter
def is_checkbox(field: BoundField) -> bool:
    return isinstance(field.field.widget, CheckboxInput)


@register.filter
def dressed(field: BoundField) -> SafeString:
    """The control of a form's field in the classes of styles/components."""
    widget = field.field.widget
    match widget:
        case CheckboxInput() | RadioSelect() | CheckboxSelectMultiple():
            dress = ""
        case Select():
            dress = "select"
        case _:
            dress = "input"
    classes = f"{dress} {widget.attrs.get('class', '')}".strip()
    return field.as_widget(attrs={"class": classes} if classes else {})


for figure in (
    figures.ago,
    figures.count,
    figures.duration,
    figures.end_reasons,
    figures.estimate,
    figures.expected,
    figures.has_failures,
    figures.milliseconds,
    figures.missed,
    figures.money,
    figures.percent,
    figures.pretty_json,
    figures.ready_count,
    figures.task_count,
    figures.time_left,
    figures.tokens,
    figures.unlocalized,
    figures.verdict,
    figures.words,
):
    register.filter(figure.__name__, figure)
