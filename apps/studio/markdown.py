"""Markdown of conversations as HTML: rendered by us, cleaned by nh3, and without losing a word.

What a model or a person wrote must be seen. So nothing that Markdown would swallow is Markdown
here: HTML is shown as text, so are link definitions, entities, backslashes and pictures (which
would be asked for from elsewhere). If a word is missing all the same (Markdown drops what stands
beyond a table's last column), the text is shown as it is. Whoever wants the characters has the raw
view.
"""

import re
from collections import Counter
from html import unescape
from string import punctuation

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

LONGEST_RENDERED = 200_000
"""Characters; a longer text is shown as it is."""

TAGS = frozenset(
    {
        *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "strong", "em", "s", "ul", "ol"),
        *("li", "blockquote", "pre", "code", "a", "div", "table", "thead", "tbody", "tr", "th"),
        "td",
    }
)
ATTRIBUTES = {
    "a": {"href"},
    "ol": {"start"},
    "code": {"class"},
    "div": {"class"},
    "th": {"align"},
    "td": {"align"},
    "li": {"value"},
}
_WORD = re.compile(r"\w+")
_TAG = re.compile(r"</?[a-z][a-z0-9]*")


def _fence(
    renderer: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """A fenced block with what its fence says (a language, a file name) above it."""
    token = tokens[index]
    said = token.info.strip()
    label = f'<div class="fence-label">{escape(said)}</div>' if said else ""
    return f"{label}<pre><code>{escape(token.content)}</code></pre>\n"


def _list_item(
    renderer: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """An item keeps the number it was given, which HTML would count anew."""
    number = tokens[index].info
    return f'<li value="{int(number)}">' if number.isdigit() else "<li>"


def _escape(state: StateInline, silent: bool) -> bool:
    """A backslash keeps its sign from being Markdown, and stays to be seen."""
    pair = state.src[state.pos : state.pos + 2]
    if len(pair) < 2 or pair[0] != "\\" or pair[1] not in punctuation:
        return False
    if not silent:
        state.pending += pair
    state.pos += 2
    return True


def _renderer() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": True})
    parser.enable(["table", "strikethrough"])
    parser.disable(["reference", "image", "entity", "html_block", "html_inline"])
    parser.inline.ruler.at("escape", _escape)
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("list_item_open", _list_item)
    return parser


_PARSER = _renderer()


def rendered(text: str) -> SafeString:
    """``text`` as HTML that is safe to show and holds every word of it."""
    if len(text) <= LONGEST_RENDERED:
        html = nh3.clean(
            _PARSER.render(text),
            tags=set(TAGS),
            attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
            url_schemes={"http", "https", "mailto"},
            link_rel="noopener noreferrer nofollow",
        )
        if _holds_all(text, html):
            return mark_safe(html)  # noqa: S308 - cleaned by nh3
    return mark_safe(f'<p class="as-is">{escape(text)}</p>')  # noqa: S308 - escaped here


def _holds_all(text: str, html: str) -> bool:
    """Whether every word of ``text`` occurs in ``html`` as often as there."""
    shown = Counter(_WORD.findall(unescape(_TAG.sub(" ", html))))
    return Counter(_WORD.findall(text)) <= shown
