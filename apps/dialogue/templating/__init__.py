"""The sandboxed Jinja that message builders and scorers share (rule 13 of the solver's semantics).

``compile_template(source)`` gives a ``Template`` to render; ``render(text, context)`` does both.
Everything wrong raises ``TemplateError``: what does not parse, what is missing, what is too large.
"""

from apps.dialogue.templating.inspection import Need
from apps.dialogue.templating.template import Template, compile_template, plain_data, render

__all__ = ["Need", "Template", "compile_template", "plain_data", "render"]
