"""Markdown as HTML: safe to show, and no word of it swallowed."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.studio.markdown import LONGEST_RENDERED, rendered

PIECES = st.sampled_from(
    [
        "word", "Zürich", "سلام", "7", "\n", "\n\n", " ", "    ", "\t", "# ", "## ", "* ", "- ",
        "1. ", "7) ", "> ", "| a | b |\n|---|---|\n| c | d | e |\n", "```", "```py x\n", "~~~",
        "`", "**", "_", "~~", "[text](http://x.example/y)", "[ref]: http://z.example 'title'\n",
        "![picture](http://img.example/a.png)", "<text>", "</text>", "<script>alert(1)</script>",
        "<!-- hidden -->", "&lt;", "&copy;", "\\*", "\\", "<http://auto.example>", "***", "---\n",
        "===\n", "[x]", "(y)", "javascript:alert(1)", "[l](javascript:alert(1))", "<b onclick=x>",
        "\x00", "\u2028", "☃", "- [ ] ",
    ]
)  # fmt: skip


def all_words(html: str) -> list[str]:
    """Every word a reader can get at: the text, and where links lead."""
    return re.findall(r"\w+", unescape(re.sub(r"</?[a-z][a-z0-9]*", " ", html)))


@given(st.lists(PIECES, max_size=14).map("".join))
def test_no_word_is_swallowed(text: str) -> None:
    shown = all_words(rendered(text))
    for word in set(re.findall(r"\w+", text)):
        assert shown.count(word) >= re.findall(r"\w+", text).count(word)


@given(st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=200))
def test_nothing_but_our_own_tags_comes_out(text: str) -> None:
    html = rendered(text)
    tags = re.findall(r"<\s*/?\s*([^\s>/]*)([^>]*)>", html)
    for name, attributes in tags:
        assert name in {
            "p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "strong", "em", "s", "ul", "ol",
            "li", "blockquote", "pre", "code", "a", "div", "table", "thead", "tbody", "tr", "th",
            "td",
        }  # fmt: skip
        assert not re.search(r"\bon\w+\s*=|\bstyle\s*=|javascript:", attributes)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<text>kept</text>", "&lt;text&gt;kept&lt;/text&gt;"),
        ("<!-- said -->", "&lt;!-- said --&gt;"),
        ("[a]: http://x.example", "[a]: http://x.example"),
        ("&copy;", "&amp;copy;"),
        (r"\*literal\*", r"\*literal\*"),
        ("one\ntwo", "one<br>"),
        ("7. seven", '<li value="7">'),
        ("```python\nx < 1\n```", '<div class="fence-label">python</div>'),
    ],
)
def test_what_markdown_would_hide_is_seen(text: str, html: str) -> None:
    assert html in rendered(text)


def test_a_picture_is_a_link_and_asks_nobody_for_anything() -> None:
    html = rendered("![alt](https://img.example/x.png)")
    assert "<img" not in html
    assert 'href="https://img.example/x.png"' in html
    assert 'rel="noopener noreferrer nofollow"' in html


def test_cells_beyond_the_last_column_are_seen() -> None:
    html = rendered("| a | b |\n|---|---|\n| 1 | 2 | beyond |")
    assert "beyond" in html


def test_a_very_long_text_is_shown_as_it_is() -> None:
    text = "**x** " * (LONGEST_RENDERED // 6 + 1)
    html = rendered(text)
    assert "<strong>" not in html
    assert html.count("**x**") == text.count("**x**")
