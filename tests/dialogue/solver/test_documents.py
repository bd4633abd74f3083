"""The text of a specification."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.errors import SpecError
from apps.dialogue.solver.documents import read_document

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{key}: &{key} [{', '.join([f'*{before}'] * 10)}]"
    for before, key in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("text", "document"),
    [
        ("a: 1\nb: [x, y]", {"a": 1, "b": ["x", "y"]}),
        ('{"a": "\\/", "b": [1, 2.5, null, true]}', {"a": "/", "b": [1, 2.5, None, True]}),
        ("{a: b}", {"a": "b"}),
        ('{\n\t"a": 1\n}', {"a": 1}),
        ("a: 2026-11-30", {"a": "2026-11-30"}),
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("base: &b {x: 1}\nmore:\n  <<: *b\n  y: 2", {"base": {"x": 1}, "more": {"x": 1, "y": 2}}),
        ("", None),
    ],
)
def test_yaml_and_json_are_read(text: str, document: object) -> None:
    assert read_document(text) == document


@pytest.mark.parametrize(
    ("text", "naming"),
    [
        ("a: 1\nb: 2\na: 3", "line 3, column 1: the key 'a' stands here twice"),
        ('{"a": 1, "a": 2}', "the key 'a' stands twice"),
        ("1: x", "the key 1 is not a text"),
        ("on: x", "the key True is not a text"),
        ("a: [1", "line 1"),
        ("a: b: c", "line 1, column 5"),
        ("a: .nan", "a: is nan"),
        ("a: !!python/object:os.system x", "could not determine a constructor"),
        ("a: !!binary aGk=", "not JSON"),
        ("&a [*a]", "at most"),
        (LAUGHS, "at most 100000 values"),
        ("[" * 50_000, "cannot be read"),
        ("x" * 300_001, "at most 300000 characters"),
        ("a: \x01", "not YAML"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, naming: str) -> None:
    with pytest.raises(SpecError) as refused:
        read_document(text)
    assert naming in str(refused.value)


@given(st.text(alphabet="ab:- \n[]{}&*!'\"#|>%@`1.?,\t\x00é"))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_document(text)
    except SpecError as refused:
        message = str(refused)
    else:
        message = "read"
    assert message
