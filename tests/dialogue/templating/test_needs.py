"""A template says before it runs what data it cannot do without."""

import pytest

from apps.dialogue.errors import TemplateError
from apps.dialogue.templating import compile_template

SAMPLE = {"q": "Q", "tags": ["a"], "deep": {"x": {"y": 1}}}
LATER = ("messages", "loop_index")


def check(source: str) -> None:
    compile_template(source).check({"sample": SAMPLE}, later=LATER)


@pytest.mark.parametrize(
    ("source", "naming"),
    [
        ("{{ sample.nope }}", "'nope'"),
        ("text {{ sample['nope'] }}", "'nope'"),
        ("{{ sample.nope.deeper }}", "'nope'"),
        ("{{ sample.deep.x.z }}", "'z'"),
        ("{{ sample.tags[1] }}", "no item 1"),
        ("{{ sample.tags[-2] }}", "no item -2"),
        ("{{ sample.nope|upper }}", "'nope'"),
        ("{{ 'a' ~ sample.nope ~ 'b' }}", "'nope'"),
        ("{{ sample.nope + 1 }}", "'nope'"),
        ("{{ sample.nope.strip() }}", "'nope'"),
        ("{% if sample.nope %}x{% endif %}", "'nope'"),
        ("{% if sample.nope == 1 %}x{% endif %}", "'nope'"),
        ("{% for x in sample.nope %}x{% endfor %}", "'nope'"),
        ("{{ 'a' if sample.nope else 'b' }}", "'nope'"),
        ("{% filter upper %}{{ sample.nope }}{% endfilter %}", "'nope'"),
        ("{{ other }}", "'other' is not defined"),
    ],
)
def test_what_every_rendering_reads_is_asked_for_beforehand(source: str, naming: str) -> None:
    with pytest.raises(TemplateError) as refused:
        check(source)
    assert naming in str(refused.value)


@pytest.mark.parametrize(
    "source",
    [
        "{{ sample.q }} {{ sample.tags[0] }} {{ sample.deep.x.y }}",
        "{{ sample.nope|default('x') }}",
        "{{ sample.nope is defined }}",
        "{% if sample.nope is defined %}{{ sample.nope }}{% endif %}",
        "{% if sample.q %}x{% else %}{{ sample.nope }}{% endif %}",
        "{% for x in sample.tags %}{{ sample.nope }}{% endfor %}",
        "{{ sample.q or sample.nope }}",
        "{{ sample.q if sample.q else sample.nope }}",
        "{{ sample[loop_index] }}",
        "{{ sample[sample.q] }}",
        "{{ messages[3].content }}",
        "{{ loop_index }}",
        "{{ sample.items() }}",
        "{{ sample.q.upper() }}",
        "{% set sample = {'nope': 1} %}{{ sample.nope }}",
        "{% macro m() %}{{ sample.nope }}{% endmacro %}",
        "{% for sample in [{'nope': 1}] %}{{ sample.nope }}{% endfor %}",
    ],
)
def test_what_may_never_be_read_is_not_asked_for(source: str) -> None:
    check(source)


def test_a_template_knows_the_names_it_reads() -> None:
    template = compile_template(
        "{% for m in messages %}{{ m }}{{ range(2) }}{% endfor %}{{ trace }}"
    )
    assert template.names == {"messages", "trace"}
