"""What templates see and write (rule 13 of the solver's semantics)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.errors import TemplateError
from apps.dialogue.templating import compile_template, render

SAMPLE = {"question": "Where?", "items": ["a", "b"], "nested": {"list": [1, 2]}, "empty": None}
MESSAGES = [{"role": "system", "content": "S"}, {"role": "user", "content": "<b> & 'c'"}]
SEEN = {"sample": SAMPLE, "messages": MESSAGES}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ sample.question }}", "Where?"),
        ("{{ sample['question'] }}", "Where?"),
        ("{{ sample.items }}", "['a', 'b']"),
        ("{{ sample['items'][1] }}", "b"),
        ("{{ sample.nested.list[-1] }}", "2"),
        ("{{ messages[-1].content }}", "<b> & 'c'"),
        ("{{ messages[0].role }}/{{ messages|length }}", "system/2"),
        ("{{ messages|map(attribute='content')|join('|') }}", "S|<b> & 'c'"),
        ("{% for key, value in sample.nested.items() %}{{ key }}{% endfor %}", "list"),
        ("{{ sample.get('question') }}", "Where?"),
        ("{{ sample.question.upper() }} {{ sample.question|lower }}", "WHERE? where?"),
        ("{{ sample.question ~ 1 ~ none }}", "Where?1None"),
        ("{{ 2 + 3 }} {{ 2 * 3 }} {{ 2 ** 3 }} {{ 7 % 4 }} {{ 'ab' * 2 }}", "5 6 8 3 abab"),
        ("{{ sample.nope|default('else') }}", "else"),
        ("{{ sample.nope is defined }}", "False"),
        ("one\n", "one"),
        ("one\n\n", "one\n"),
        ("{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
    ],
)
def test_a_template_sees_plain_data_and_writes_it_unescaped(template: str, text: str) -> None:
    assert render(template, SEEN) == text


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{% do [1] %}x", "x"),
        ("{% for i in range(9) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}", "01"),
        (
            "{% for i in range(3) %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
            "02",
        ),
        ("{{ {'b': [1, '<'], 'a': none}|tojson }}", '{"a": null, "b": [1, "<"]}'),
        ("{{ '{\"a\": [1]}'|fromjson }}", "{'a': [1]}"),
        ("{{ ('{\"a\": [1]}'|fromjson).a[0] }}", "1"),
        ("{{ 'say \"hi\"\n'|json_escape }}", 'say \\"hi\\"\\n'),
        ("{{ 3|json_escape }}", "3"),
        ("{% for a, b in [1, 2, 3]|zip(['x', 'y']) %}{{ a }}{{ b }}{% endfor %}", "1x2y"),
        (
            "{{ ({'a': {'x': 1}, 'b': 1}|merge({'a': {'y': 2}, 'b': 3}))|tojson }}",
            '{"a": {"x": 1, "y": 2}, "b": 3}',
        ),
        (r"{{ 'John Smith'|regex_replace('(\w+) (\w+)', '\\2 \\1') }}", "Smith John"),
        ("{{ 'aAa'|regex_replace('a', 'b', ignorecase=true, count=2) }}", "bba"),
        ("{{ 'a\na'|regex_replace('^a', 'b', multiline=true) }}", "b\nb"),
        ("{{ [[1], [2, 3]]|sum(start=[]) }}", "[1, 2, 3]"),
        ("{{ 'a\nb'|indent(2) }}", "a\n  b"),
        (
            "{% for g in [{'k': 1}, {'k': 1}]|groupby('k') %}{{ g.grouper }}{{ g.list|length }}"
            "{% endfor %}",
            "12",
        ),
        ("{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}{{ twice('a') }}", "aa"),
        (
            "{% set ns = namespace(n=0) %}{% for i in range(4) %}{% set ns.n = ns.n + i %}"
            "{% endfor %}{{ ns.n }}",
            "6",
        ),
    ],
)
def test_the_extensions_and_filters_of_latticeflow_are_there(template: str, text: str) -> None:
    assert render(template, SEEN) == text


@pytest.mark.parametrize(
    ("template", "naming"),
    [
        ("{{ sample.nope }}", "no column 'nope' (columns: question, items, nested, empty)"),
        ("{{ sample['nope'] }}", "no column 'nope'"),
        ("{{ sample.nested.nope }}", "no key 'nope' (keys: list)"),
        ("{{ sample.nested.list[5] }}", "no item 5 (it holds 2)"),
        ("{{ messages[7].content }}", "messages has no item 7 (it holds 2)"),
        ("{{ sample.nope.deeper }}", "no column 'nope'"),
        ("{{ [sample.nope] }}", "no column 'nope'"),
        ("{{ {'a': sample.nope} }}", "no column 'nope'"),
        ("{{ sample.nope|tojson }}", "no column 'nope'"),
        ("{{ 'a' ~ sample.nope }}", "no column 'nope'"),
        ("{% if sample.nope %}{% endif %}", "no column 'nope'"),
        ("{% for x in sample.nope %}{% endfor %}", "no column 'nope'"),
        ("{{ loop_index }}", "loop_index is defined inside a loop only"),
        ("{{ other }}", "'other' is not defined (a template here sees sample, messages)"),
        ("{{ sample.keys_ }}", "no column 'keys_'"),
        ("{{ sample.question.nope }}", "a text has no 'nope'"),
        ("{{ sample.empty.nope }}", "a null has no 'nope'"),
    ],
)
def test_what_is_missing_is_an_error_that_names_it(template: str, naming: str) -> None:
    with pytest.raises(TemplateError) as refused:
        render(template, SEEN)
    assert naming in str(refused.value)


@pytest.mark.parametrize(
    ("template", "naming"),
    [
        ("{{ sample.question", "line 1"),
        ("\n{% if %}", "line 2"),
        ("{{ 1|nope }}", "nope"),
        ("{% include 'other' %}", "include is not available"),
        ("{% import 'other' as o %}", "import is not available"),
        ("{% extends 'other' %}", "extends is not available"),
        ("x" * 100_001, "at most 100000 characters"),
    ],
)
def test_a_wrong_template_is_refused_when_it_is_compiled(template: str, naming: str) -> None:
    with pytest.raises(TemplateError) as refused:
        compile_template(template)
    assert naming in str(refused.value)


def test_an_error_while_rendering_names_its_kind() -> None:
    with pytest.raises(TemplateError, match="ZeroDivisionError"):
        render("{{ 1 / 0 }}", SEEN)


def test_only_plain_data_reaches_a_template() -> None:
    with pytest.raises(TemplateError, match=r"sample\.when.*plain data"):
        render("{{ sample.when }}", {"sample": {"when": object()}})


@given(st.text())
def test_text_that_was_rendered_is_not_rendered_again(text: str) -> None:
    storable = text.encode(errors="replace").decode().replace("\x00", "")
    assert render("{{ sample.q }}", {"sample": {"q": storable}}) == storable


@given(st.dictionaries(st.text(), st.integers()))
def test_a_column_wins_over_every_method_of_its_name(extra: dict[str, int]) -> None:
    names = ["items", "keys", "values", "get", "pop", "update", "copy", "clear", "setdefault"]
    sample = {**{name: f"column {name}" for name in names}}
    for name in names:
        assert render(f"{{{{ sample.{name} }}}}", {"sample": sample}) == f"column {name}"


def test_a_template_is_compiled_once() -> None:
    assert compile_template("once {{ sample.q }}") is compile_template("once {{ sample.q }}")
