"""Whoever writes a template: it may not reach Python, fill the memory or hang."""

import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.dialogue.errors import TemplateError
from apps.dialogue.templating import compile_template, render

SEEN = {"sample": {"q": "abc", "list": [1, 2]}, "messages": [{"role": "user", "content": "hi"}]}

ESCAPES = [
    "{{ ''.__class__ }}",
    "{{ ''['__class__'] }}",
    "{{ ''|attr('__class__') }}",
    "{{ sample.__class__ }}",
    "{{ sample['__init__'] }}",
    "{{ sample.get.__self__ }}",
    "{{ [].__class__.__base__ }}",
    "{{ dict.__mro__ }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ range.__class__ }}",
    "{{ self.__dict__ }}",
    "{{ self._TemplateReference__context }}",
    "{{ messages|map(attribute='__class__')|list }}",
    "{{ '{0.__class__}'.format(1) }}",
    "{{ '%s'|format(1) }}",
    "{% do messages.append(1) %}",
    "{% do messages.clear() %}",
    "{% do sample.update({'q': 1}) %}",
    "{% do sample.pop('q') %}",
    "{{ lipsum.__globals__ }}",
    "{{ lipsum() }}",
    "{{ environment }}",
    "{{ sample.q.encode() }}",
    "{{ messages[0].__setitem__('role', 'x') }}",
]

BLOW_UPS = [
    "{{ 'a' * 10**8 }}",
    "{{ 10**8 * 'a' }}",
    "{{ [1] * 10**8 }}",
    "{{ 9**(9**7) }}",
    "{{ (2**4000) * (2**4000) }}",
    "{{ '%1000000000s' % 1 }}",
    "{{ '{:>1000000000}'.format(1) }}",
    "{{ 'a'.center(10**9) }}",
    "{{ 'a'.ljust(10**9) }}",
    "{{ 'a'.rjust(10**9) }}",
    "{{ 'a'.zfill(10**9) }}",
    "{{ 'a\t'.expandtabs(10**9) }}",
    "{{ 'a'|center(10**9) }}",
    "{{ 'a'|format }}",
    "{{ (1).to_bytes(10**9, 'big') }}",
    "{{ 1.5|round(10**9, 'ceil') }}",
    "{{ 'a\na'|indent(10**9) }}",
    "{{ [1]|tojson(indent=10**9) }}",
    "{{ range(10**9) }}",
    "{{ 'a'|batch(10**9, 'x')|list }}",
    "{{ 'a'|slice(10**9)|list }}",
    "{{ ('a' * 500000)|replace('', 'b' * 500000) }}",
    "{{ ('a' * 500000).replace('a', 'b' * 500000) }}",
    "{{ range(100000)|join('x' * 100000) }}",
    "{{ ('x' * 100000).join(['a'] * 100) }}",
    "{{ ('a' * 90000)|regex_replace('a', 'b' * 100000) }}",
    "{{ ('a' * 900)|wordwrap(1, wrapstring='b' * 900000) }}",
    "{% set n = namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    "{% set n = namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}",
    "{% set n = namespace(x={}) %}{% for i in range(60) %}{% set n.x = dict(a=n.x, b=n.x) %}"
    "{% endfor %}",
    "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = n.x|zip(n.x) %}"
    "{% set n.x = [n.x, n.x] %}{% endfor %}",
    "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
    "{% for a in range(100000) %}" + "x" * 1000 + "{% endfor %}",
    "{% set x %}{% for a in range(100000) %}" + "x" * 1000 + "{% endfor %}{% endset %}",
    "{% set x %}{% for a in range(100000) %}{{ 'a' * 1000 }}{% endfor %}{% endset %}",
    "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
    "{% for x in [1, 2] recursive %}{% if loop.depth < 40 %}{{ loop([1, 2]) }}{% endif %}"
    "{% endfor %}",
    "{% block a %}{{ self.a() }}{% endblock %}",
    "{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'|regex_replace('(a+)+$', '') }}",
    "{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'|regex_replace('(a|a)*$', '') }}",
    "{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'|regex_replace('(a?){40}a{40}', '') }}",
    "{{ 'a'|regex_replace('" + "a?" * 20 + "', '') }}",
]


@pytest.mark.parametrize("template", ESCAPES)
def test_a_template_cannot_reach_python_or_change_what_it_sees(template: str) -> None:
    with pytest.raises(TemplateError):
        render(template, SEEN)


@pytest.mark.parametrize("template", BLOW_UPS, ids=range(len(BLOW_UPS)))
def test_a_template_cannot_fill_the_memory_or_hang(template: str) -> None:
    begun = time.process_time()
    with pytest.raises(TemplateError):
        render(template, SEEN)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("written", ["{{ messages|map('upper') }}", "{{ range }}", "{{ self }}"])
def test_what_has_no_text_of_its_own_is_not_written(written: str) -> None:
    with pytest.raises(TemplateError, match="cannot be written"):
        render(written, SEEN)


def test_chance_is_left_out_so_that_a_resumed_conversation_renders_the_same() -> None:
    with pytest.raises(TemplateError, match="resumed"):
        compile_template("{{ sample.list|random }}")


def test_an_output_longer_than_the_limit_is_refused() -> None:
    seen = {"sample": {"long": "x" * 600_000}}
    assert len(render("{{ sample.long }}", seen)) == 600_000
    with pytest.raises(TemplateError, match="longer than"):
        render("{{ sample.long }}{{ sample.long }}", seen)


def test_ordinary_long_conversations_stay_far_below_the_limits() -> None:
    messages = [{"role": "user", "content": "word " * 100}] * 400
    template = "{% for m in messages %}{{ m.role }}: {{ m.content|trim }}\n{% endfor %}"
    assert len(render(template, {"messages": messages})) > 200_000


PIECES = st.sampled_from(
    [
        "{{",
        "}}",
        "{%",
        "%}",
        " sample",
        ".q",
        "|tojson",
        "|length",
        "[0]",
        " for x in ",
        " if ",
        " endif ",
        " endfor ",
        " else ",
        "messages",
        "'a'",
        "*",
        "+",
        "~",
        "(",
        ")",
        "1",
        "x",
        " ",
    ]
)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_any_source_renders_a_text_or_is_refused(source: str) -> None:
    with contextlib.suppress(TemplateError):
        assert isinstance(render(source, SEEN), str)
