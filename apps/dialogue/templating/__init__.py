"""The sandboxed Jinja that message builders and scorers share (rule 13 of the solver's semantics).

``compile_template(source)`` gives a ``Template`` to render; ``render(text, context)`` does both.
``compile_expression(source)`` gives an ``Expression``, whose value is data instead of a text.
Everything wrong raises ``TemplateError``: what does not parse, what is missing, what is too large.
"""

from apps.dialogue.templating.inspection import Need
from apps.dialogue.templating.template import (
    Expression,
    Template,
    compile_expression,
    compile_template,
    plain_data,
    render,
)

__all__ = [
    "Expression",
    "Need",
    "Template",
    "compile_expression",
    "compile_template",
    "plain_data",
    "render",
]
