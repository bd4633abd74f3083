"""The estimate against o200k_base, on text that is installed with every checkout."""

import gettext
from pathlib import Path

import django
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.token_counts import ESTIMATE, available_tokenizers, count_text

LOCALES = Path(django.__file__).parent / "conf" / "locale"
ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(
    "o200k_base" not in available_tokenizers(), reason="no wheel of toktok-rs for this platform"
)


def _translations(language: str) -> str:
    with (LOCALES / language / "LC_MESSAGES" / "django.mo").open("rb") as file:
        catalog = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    return "\n".join(text for name, text in catalog.items() if name and len(text) > 15)


def _error(text: str) -> float:
    return abs(count_text(text, ESTIMATE) / count_text(text, "o200k_base") - 1)


@pytest.mark.parametrize(
    "path", ["README.md", "apps/dialogue/message.py", "apps/README.md", "package.json"]
)
def test_the_estimate_is_close_for_english_and_code(path: str) -> None:
    assert _error((ROOT / path).read_text("utf-8")) < 0.2


@pytest.mark.parametrize(
    "language",
    ["ar", "de", "el", "es", "fa", "fr", "he", "hi", "it", "ja", "ko", "nl", "pl", "pt_BR", "ru",
     "sv", "ta", "th", "tr", "uk", "vi", "zh_Hans", "zh_Hant"],
)  # fmt: skip
def test_the_estimate_is_close_for_the_languages_of_most_people(language: str) -> None:
    text = _translations(language)
    assert len(text) > 400
    assert _error(text) < 0.25


def test_the_estimate_knows_pictures() -> None:
    assert _error("Thanks a lot 😀🎉 see you 👍🏽 tomorrow 🙏🚀 " * 20) < 0.3


@given(st.text(max_size=200))
def test_only_an_empty_text_has_no_tokens(text: str) -> None:
    assert (count_text(text, ESTIMATE) == 0) == (text == "")


@given(st.text(max_size=60), st.text(max_size=60))
def test_more_text_never_has_fewer_tokens_by_much(first: str, second: str) -> None:
    both = count_text(first + "\n" + second, ESTIMATE)
    assert both <= count_text(first, ESTIMATE) + count_text(second, ESTIMATE) + 2
