"""The templates themselves: what a strict policy and a reader need of every one."""

import re
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.template.loader import get_template

from tests.needs import missing

ROOT = Path(apps.get_app_config("studio").path).parent.parent
TEMPLATES = ROOT / "templates"
ALL = sorted(TEMPLATES.rglob("*.html"))
REUSED = [
    path for path in ALL if {"parts", "blocks", "elements"} & set(path.relative_to(TEMPLATES).parts)
]


def name(path: Path) -> str:
    return str(path.relative_to(TEMPLATES))


def marks(html: str) -> str:
    """The template without its comments."""
    return re.sub(r"\{% comment %\}.*?\{% endcomment %\}", "", html, flags=re.DOTALL)


@pytest.mark.parametrize("path", ALL, ids=name)
def test_every_template_can_be_compiled(path: Path) -> None:
    get_template(name(path))


@pytest.mark.parametrize("path", ALL, ids=name)
def test_nothing_is_inline_that_the_policy_forbids(path: Path) -> None:
    html = marks(path.read_text())
    assert not re.search(r"\sstyle\s*=", html), "a style attribute"
    assert not re.search(r"<style\b", html), "a style element"
    assert not re.search(r"\son[a-z]+\s*=", html), "an event attribute"
    assert not re.search(r"<script\b(?![^>]*\bsrc=)(?![^>]*application/json)", html), "a script"
    assert not re.search(r"hx-(on|vals\s*=\s*.js:)|hx-vars|javascript:", html), "code in a text"
    assert not re.search(r"https?://(?!www\.w3\.org)", html), "an address elsewhere"


@pytest.mark.parametrize("path", REUSED, ids=name)
def test_a_part_says_which_variables_it_takes(path: Path) -> None:
    html = path.read_text().lstrip()
    html = re.sub(r"\A(\{% load [^%]*%\}\s*)+", "", html)
    documented = re.match(r"\{% comment %\}(.+?)\{% endcomment %\}", html, flags=re.DOTALL)
    assert documented, "opens with a comment"
    assert re.search(r"\n  \w+|Variables: \w+", documented[1]), "a sentence, then its variables"


@pytest.mark.parametrize("path", ALL, ids=name)
def test_every_form_that_writes_carries_its_token(path: Path) -> None:
    for form in re.findall(r"<form\b[^>]*method=\"post\".*?</form>", path.read_text(), re.DOTALL):
        assert "csrf_token" in form


@pytest.mark.parametrize("path", ALL, ids=name)
def test_every_button_and_link_says_what_it_is(path: Path) -> None:
    html = marks(path.read_text())
    for element in re.findall(r"<(?:button|a)\b[^>]*>.*?</(?:button|a)>", html, re.DOTALL):
        text = re.sub(r"<[^>]*>|\{% icon [^%]*%\}", "", element).strip()
        assert text or "aria-label=" in element, element[:120]


@pytest.mark.parametrize("path", ALL, ids=name)
def test_every_icon_is_in_the_sprite(path: Path) -> None:
    sprite = Path(str(settings.DJANGO_VITE["default"]["manifest_path"])).with_name("icons.svg")
    if not sprite.exists():
        missing("the built front end", "build it with `npm run build`")
    drawn = set(re.findall(r'<symbol id="([^"]+)"', sprite.read_text()))
    assert set(re.findall(r'\{% icon "([^"]+)"', path.read_text())) <= drawn
