"""Compiling and running a template, which gives a text, or an expression, which gives a value."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from math import isfinite
from typing import Any, Final, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.meta import TrackingCodeGenerator
from jinja2.parser import Parser
from jinja2.runtime import Undefined
from jinja2.utils import missing
from jinja2.visitor import NodeTransformer

from apps.dialogue.blocks.json_values import NotJson, json_copy, json_object
from apps.dialogue.errors import TemplateError
from apps.dialogue.templating.environment import DialogueEnvironment, describe_missing
from apps.dialogue.templating.filters import DENIED_FILTERS
from apps.dialogue.templating.inspection import Missing, Need, first_missing, lookups, needs
from apps.dialogue.templating.limits import (
    MOST_OUTPUT_CHARACTERS,
    MOST_TEMPLATE_CHARACTERS,
    TURN_WORK,
    LimitPassed,
    rendering,
    spend,
)

_ENVIRONMENT: Final = DialogueEnvironment()


class Template:
    """A compiled template. It is safe to share between threads and tasks.

    ``names`` are the variables it uses; ``lookups`` what it reads of them by name (variable, key);
    ``needs`` what it reads whatever happens.
    """

    __slots__ = ("_compiled", "_constant", "lookups", "names", "needs", "source")

    def __init__(
        self,
        source: str,
        compiled: jinja2.Template,
        names: frozenset[str],
        needed: tuple[Need, ...],
        looked_up: frozenset[tuple[str, str]],
        constant: str | None,
    ) -> None:
        self.source = source
        self.names = names
        self.lookups = looked_up
        self.needs = needed
        self._compiled = compiled
        self._constant = constant

    def render(self, context: Mapping[str, Any]) -> str:
        """Render with a context of plain data (see ``plain_data``).

        Raises ``TemplateError`` naming what is missing, wrong or too large.
        """
        if self._constant is not None:
            return self._constant
        with rendering(context), _named_errors():
            return "".join(self._pieces(context))

    def check(self, context: Mapping[str, Any], *, later: Iterable[str] = ()) -> None:
        """Raise ``TemplateError`` if something that every rendering reads will be missing.

        ``context`` is the data known already, ``later`` the names that come while playing.
        """
        named = {**dict.fromkeys(later), **context}
        for need in self.needs:
            gap: Missing | None = None
            if need.root not in named:
                gap = Missing(missing, need.root, need.line)
            elif need.root in context:
                gap = first_missing(need, context)
            if gap is not None:
                with rendering(named):
                    raise TemplateError(describe_missing(gap.owner, gap.key))

    def _pieces(self, context: Mapping[str, Any]) -> Iterator[str]:
        length = 0
        compiled = self._compiled
        for piece in compiled.root_render_func(compiled.new_context(dict(context))):
            length += len(piece)
            if length > MOST_OUTPUT_CHARACTERS:
                raise LimitPassed(f"the text is longer than {MOST_OUTPUT_CHARACTERS} characters")
            yield piece


class Expression:
    """A compiled expression, like ``turns | map(attribute="text") | list``; safe to share.

    ``names`` are the variables it uses, ``lookups`` what it reads of them by name (variable, key).
    """

    __slots__ = ("_compiled", "lookups", "names", "source")

    def __init__(
        self,
        source: str,
        compiled: jinja2.Template,
        names: frozenset[str],
        looked_up: frozenset[tuple[str, str]],
    ) -> None:
        self.source = source
        self.names = names
        self.lookups = looked_up
        self._compiled = compiled

    def evaluate(self, context: Mapping[str, Any]) -> Any:
        """Return the value, a fresh copy, with a context of plain data (see ``plain_data``).

        Raises ``TemplateError`` naming what is missing, wrong or too large.
        """
        with rendering(context), _named_errors():
            seen = self._compiled.new_context(dict(context))
            for _ in self._compiled.root_render_func(seen):
                pass
            return json_copy(_listed(seen.vars[_VALUE]))


_VALUE: Final = "value_of_the_expression"


def _listed(value: Any) -> Any:
    """Let what a filter gives piece by piece become a list."""
    if isinstance(value, Undefined):
        str(value)  # raises, naming what is missing
    if isinstance(value, str | dict | list | tuple) or not isinstance(value, Iterable):
        return value
    pieces = []
    for each in value:
        spend(1)
        pieces.append(each)
    return pieces


@contextmanager
def _named_errors() -> Iterator[None]:
    """Turn whatever a template raises into a ``TemplateError``."""
    try:
        yield
    except LimitPassed as error:
        raise TemplateError(str(error)) from None
    except RecursionError:
        raise TemplateError("the template calls itself too deeply") from None
    except NotJson as error:
        raise TemplateError(
            f"the value {error.path}{' ' if error.path else ''}{error.message}"
        ) from None
    except Exception as error:  # noqa: BLE001 - a template may raise whatever Python raises
        _raise_for(error)


def _raise_for(error: Exception) -> NoReturn:
    message = str(error) or type(error).__name__
    if not isinstance(error, jinja2.TemplateError):
        message = f"{type(error).__name__}: {message}"
    raise TemplateError(message) from None


def plain_data(context: object, place: str = "") -> dict[str, Any]:
    """Copy a context, making sure that it is JSON data; raises ``TemplateError`` if not."""
    try:
        return json_object(context)
    except NotJson as error:
        raise TemplateError(
            f"templates take plain data only: {error.message}", place=place + error.path
        ) from None


def render(text: str, context: Mapping[str, Any]) -> str:
    """Compile (or take from memory) and render a template with plain data."""
    return compile_template(text).render(plain_data(dict(context)))


@lru_cache(maxsize=1024)
def compile_template(source: str) -> Template:
    """Compile a template once; raises ``TemplateError`` naming the line of a mistake."""
    with _compiling(source):
        parsed = _ENVIRONMENT.parse(source)
        needed, constant, looked_up = needs(parsed), _constant_text(parsed), lookups(parsed)
        compiled, names = _compiled(parsed)
    return Template(source, compiled, names, needed, looked_up, constant)


@lru_cache(maxsize=1024)
def compile_expression(source: str) -> Expression:
    """Compile an expression once; raises ``TemplateError`` naming the line of a mistake."""
    with _compiling(source):
        parser = Parser(_ENVIRONMENT, source, state="variable")
        expression = parser.parse_expression()
        if not parser.stream.eos:
            raise jinja2.TemplateSyntaxError(
                "an expression ends here, and something follows it", parser.stream.current.lineno
            )
        result = nodes.Assign(nodes.Name(_VALUE, "store", lineno=1), expression, lineno=1)
        parsed = nodes.Template([result], lineno=1)
        parsed.set_environment(_ENVIRONMENT)
        looked_up = lookups(parsed)
        compiled, names = _compiled(parsed)
    return Expression(source, compiled, names, looked_up)


@contextmanager
def _compiling(source: str) -> Iterator[None]:
    """Check the length of a source, and turn what Jinja says of it into a ``TemplateError``."""
    if len(source) > MOST_TEMPLATE_CHARACTERS:
        raise TemplateError(f"a template has at most {MOST_TEMPLATE_CHARACTERS} characters")
    try:
        with warnings.catch_warnings():
            # Jinja reads '\d' as Python does, which warns of it and takes it as it stands.
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(f"line {error.lineno}: {error.message}") from None
    except RecursionError:
        raise TemplateError("the template is nested too deeply") from None
    except (SyntaxError, MemoryError):  # of Python, about what Jinja makes
        raise TemplateError("the template is nested too deeply") from None
    except ValueError:  # of int(), the only one that a source can bring about
        raise TemplateError("a number in the template has too many digits") from None


def _compiled(parsed: nodes.Template) -> tuple[jinja2.Template, frozenset[str]]:
    """Weave and compile what was parsed; returns it and the variables it uses."""
    woven = _Weaver().visit(parsed)
    names = _variables(woven) - set(_ENVIRONMENT.globals)
    code = _ENVIRONMENT.compile(woven, "template", "template")
    made = jinja2.Template.from_code(_ENVIRONMENT, code, dict(_ENVIRONMENT.globals))
    return made, names


def _variables(parsed: nodes.Template) -> frozenset[str]:
    """Return the variables a template uses, as ``jinja2.meta.find_undeclared_variables`` does.

    That function also folds constants, in place, running filters outside of any budget.
    """
    generator = TrackingCodeGenerator(_ENVIRONMENT)
    generator.optimizer = None
    generator.visit(parsed)
    return frozenset(generator.undeclared_identifiers)


def _constant_text(parsed: nodes.Template) -> str | None:
    """Return the text of a template without any expression or statement."""
    texts: list[str] = []
    for node in parsed.body:
        if not isinstance(node, nodes.Output):
            return None
        for part in node.nodes:
            if not isinstance(part, nodes.TemplateData):
                return None
            texts.append(part.data)
    return "".join(texts)


class _Weaver(NodeTransformer):
    """Weaves counting into a parsed template: loops, macros, ``~`` and literals."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - Jinja's naming
        return self._ticking(node)

    def visit_Macro(self, node: nodes.Macro) -> nodes.Node:  # noqa: N802
        return self._ticking(node)

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.Node:  # noqa: N802
        return self._ticking(node)

    def visit_Block(self, node: nodes.Block) -> nodes.Node:  # noqa: N802
        return self._ticking(node)

    def visit_Const(self, node: nodes.Const) -> nodes.Node:  # noqa: N802
        if isinstance(node.value, float) and not isfinite(node.value):
            raise jinja2.TemplateSyntaxError("a number is too large", node.lineno)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _call("joined", list(node.nodes), node.lineno)

    def visit_List(self, node: nodes.List) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _call("literal", [node], node.lineno)

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _call("literal", [node], node.lineno)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return node if node.ctx != "load" else _call("literal", [node], node.lineno)

    def visit_Filter(self, node: nodes.Filter) -> nodes.Node:  # noqa: N802
        if node.name in DENIED_FILTERS:
            reason = DENIED_FILTERS[node.name]
            message = f"the filter {node.name!r} is not available here: {reason}"
            raise jinja2.TemplateSyntaxError(message, node.lineno)
        return self.generic_visit(node)

    def visit_Include(self, node: nodes.Include) -> nodes.Node:  # noqa: N802
        return _refuse_loading(node)

    visit_Import = visit_FromImport = visit_Extends = visit_Include  # noqa: N815

    def _ticking(self, node: nodes.For | nodes.Macro | nodes.CallBlock | nodes.Block) -> nodes.Node:
        written = sum(len(data.data) for data in node.find_all(nodes.TemplateData))
        self.generic_visit(node)
        cost = nodes.Const(TURN_WORK + written)
        node.body.insert(0, nodes.ExprStmt(_call("tick", [cost], node.lineno)))
        for child in node.body[0].find_all(nodes.Node):
            child.set_lineno(node.lineno)
        node.body[0].lineno = node.lineno
        return node


def _call(name: str, arguments: list[nodes.Expr], line: int) -> nodes.Call:
    call = nodes.Call(nodes.EnvironmentAttribute(name), arguments, [], None, None)
    call.set_lineno(line)
    call.set_environment(_ENVIRONMENT)
    return call


def _refuse_loading(node: nodes.Node) -> NoReturn:
    word = type(node).__name__.removeprefix("From").lower()
    raise jinja2.TemplateSyntaxError(
        f"{word} is not available: a template stands alone", node.lineno
    )
