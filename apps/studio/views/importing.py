"""Import: what a file would become is shown row by row; nothing is kept before it is accepted."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.errors import Invalid, Refusal
from apps.accounts.permissions import Actor, Right
from apps.accounts.queries import get_project
from apps.dialogue.errors import DialogueError
from apps.dialogue.file_formats import FORMATS
from apps.studio.doors import page
from apps.studio.errors import say, show_on_form
from apps.studio.forms.importing import (
    COLUMN_USES,
    ROLES,
    ImportForm,
    ReadingForm,
    read_mapping,
    read_roles,
)
from apps.studio.frame import is_partial
from apps.studio.importing import (
    ANSWERS_SHOWN,
    LONGEST_MAPPING,
    column_names,
    columns_of,
    mapping_text,
    proposed_answers,
    proposed_turns,
    suggested_mapping,
)
from apps.studio.ledger_addresses import LINES_SHOWN, Chosen, ListedLine, ShownNotes, beside
from apps.studio.paging import whole_number
from apps.tasks import actions, queries

RECENT_SHOWN = 8
FIRST_ROWS = 5
OUTCOMES = ("created", "updated", "unchanged", "refused")
KINDS = ("kept", "converted", "invented", "dropped", "refused")
STOP_POLLING = 286
"""The status by which htmx ends its polling."""


@require_http_methods(["GET", "HEAD", "POST"])
@page
def import_tasks(
    request: HttpRequest, actor: Actor, project: str, environment: str
) -> HttpResponse:
    """Bring a file or a text; what it would become is the next page."""
    row = _environment(actor, project, environment)
    if request.method != "POST":
        first = next((split.name for split in queries.splits(actor, row)), "train")
        asked = {name: request.GET[name] for name in ("split", "format") if request.GET.get(name)}
        return _form_page(request, actor, row, ImportForm(initial={"split": first, **asked}))
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _form_page(request, actor, row, form)
    try:
        imported = actions.propose_import(
            actor=actor,
            environment=row,
            pieces=form.pieces(),
            file_name=form.source(),
            split=form.cleaned_data["split"],
            format=form.cleaned_data["format"],
            update=form.cleaned_data["update"],
        )
    except (Refusal, DialogueError) as problem:
        show_on_form(form, problem, {"name": "split"})
        return _form_page(request, actor, row, form)
    return _go_to(request, _address("import_page", row, imported.pk))


def _environment(actor: Actor, project: str, environment: str) -> Any:
    owner = get_project(actor, project)
    return queries.get_environment(actor, owner, environment, Right.AUTHOR)


def _address(name: str, environment: Any, *more: int) -> str:
    place = [environment.project.slug, environment.slug, *more]
    return reverse(f"studio:{name}", args=place)


def _go_to(request: HttpRequest, address: str) -> HttpResponse:
    """Another page, also where the request came from a part of this one."""
    if is_partial(request):
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    return redirect(address)


def _form_page(
    request: HttpRequest, actor: Actor, environment: Any, form: ImportForm
) -> HttpResponse:
    context = {
        "project": environment.project,
        "environment": environment,
        "splits": queries.splits(actor, environment),
        "form": form,
        "formats": FORMATS.values(),
        "recent": queries.imports(actor, environment, limit=RECENT_SHOWN),
    }
    part = "parts/import_form.html" if is_partial(request) else "pages/import.html"
    # htmx swaps what was accepted: the form with its errors takes the place of the form.
    status = 422 if form.errors and not is_partial(request) else 200
    return render(request, f"studio/{part}", context, status=status)


@require_safe
@page
def imports(request: HttpRequest, actor: Actor, project: str, environment: str) -> HttpResponse:
    """Every import of an environment, the newest first."""
    row = _environment(actor, project, environment)
    before = request.GET.get("before", "")
    listed = queries.imports(
        actor,
        row,
        limit=LINES_SHOWN + 1,
        before=whole_number(before, place="before") if before else None,
    )
    context = {
        "project": row.project,
        "environment": row,
        "imports": listed[:LINES_SHOWN],
        "next": listed[LINES_SHOWN - 1].pk if len(listed) > LINES_SHOWN else None,
    }
    return render(request, "studio/pages/imports.html", context)


@require_safe
@page
def import_page(
    request: HttpRequest, actor: Actor, project: str, environment: str, pk: int
) -> HttpResponse:
    """An import in whatever state it is; for htmx the proposal alone."""
    row = _environment(actor, project, environment)
    imported = queries.get_import(actor, row, pk)
    context = _page_context(request, actor, imported)
    if is_partial(request):
        return render(request, "studio/parts/import_body.html", context)
    return render(request, "studio/pages/import_page.html", context)


@require_safe
@page
def import_progress(
    request: HttpRequest, actor: Actor, project: str, environment: str, pk: int
) -> HttpResponse:
    """How far an import is, asked for every second; when its step ends the page is loaded anew."""
    row = _environment(actor, project, environment)
    imported = queries.get_import(actor, row, pk)
    response = render(request, "studio/parts/import_progress.html", _counted(imported))
    if not imported.is_open:
        response.status_code = STOP_POLLING
        response["HX-Refresh"] = "true"
    return response


def _page_context(request: HttpRequest, actor: Actor, imported: Any) -> dict[str, Any]:
    context = _counted(imported)
    if imported.is_open:
        return context
    chosen = Chosen.of(request.GET, imported.rows_read)
    ledger = queries.ledger_page(
        actor,
        imported,
        after=chosen.first,
        limit=LINES_SHOWN,
        outcome=chosen.outcome,
        kind=chosen.kind,
        code=chosen.code,
    )
    lines = [ListedLine(line, chosen.at(line.row)) for line in ledger.lines]
    context |= {"chosen": chosen, "ledger": ledger, "lines": lines}
    if imported.state == "proposed":
        context |= _reading(actor, imported) | _mapping(actor, imported)
        context |= _proposal(actor, imported, chosen, ledger)
    elif imported.has_file and imported.can_be_discarded:
        context |= _reading(actor, imported)
    return context


def _counted(imported: Any) -> dict[str, Any]:
    """An import with what a template cannot add up itself."""
    codes = dict(imported.codes)
    return {
        "project": imported.environment.project,
        "environment": imported.environment,
        "imported": imported,
        "tasks": imported.created + imported.updated,
        "undone": imported.removed + imported.archived + imported.restored + imported.left,
        "outcomes": [(name, rows) for name in OUTCOMES if (rows := getattr(imported, name))],
        "kinds": [(name, imported.kinds[name]) for name in KINDS if imported.kinds.get(name)],
        "codes": sorted(codes.items()),
        "needs_mapping": "needs_column_mapping" in codes,
    }


def _reading(actor: Actor, imported: Any) -> dict[str, Any]:
    """How the file is read, to be changed."""
    return {
        "reading": ReadingForm(
            initial={
                "split": imported.split,
                "format": imported.format,
                "update": imported.update,
            }
        ),
        "splits": queries.splits(actor, imported.environment),
    }


def _mapping(actor: Actor, imported: Any) -> dict[str, Any]:
    """The columns of the file and what each is used as."""
    first = queries.first_values(actor, imported, limit=FIRST_ROWS)
    mapping = imported.mapping or suggested_mapping(first)
    columns = columns_of(first, mapping)
    text = mapping_text(mapping)
    is_long = len(text) > LONGEST_MAPPING
    return {
        "columns": columns,
        "more_columns": len(column_names(first)) - len(columns),
        "uses": COLUMN_USES.items(),
        "mapping_text": "" if is_long else text,
        "long_mapping": len(text) if is_long else 0,
    }


def _proposal(actor: Actor, imported: Any, chosen: Chosen, ledger: Any) -> dict[str, Any]:
    """The conversation that is looked at, and the rows beside it."""
    line = _line_looked_at(actor, imported, chosen, ledger.lines)
    content = queries.proposed_content(actor, imported, line.row) if line else None
    said = content.messages if content else ()
    part = proposed_turns(line.row if line else 0, said, chosen.turn)
    candidates = content.candidates if content else ()
    return {
        "line": line,
        "notes": ShownNotes.of(line) if line else None,
        "content": content,
        "part": part,
        "turns": part.turns,
        "turns_at": chosen.at(line.row) if line else "",
        "has_speakers": any(turn.speaker for turn in part.turns),
        "answers": proposed_answers(candidates),
        "more_answers": max(0, len(candidates) - ANSWERS_SHOWN),
        "beside": beside(line, imported.rows_read, chosen, ledger) if line else None,
        "roles": ROLES,
    }


def _line_looked_at(actor: Actor, imported: Any, chosen: Chosen, lines: list[Any]) -> Any:
    """The row that was chosen, else the first listed one with a conversation."""
    if chosen.row is not None:
        return queries.ledger_line(actor, imported, chosen.row)
    with_task = (line for line in lines if line.outcome != "refused")
    return next(with_task, lines[0] if lines else None)


@require_POST
@page
def import_change(
    request: HttpRequest, actor: Actor, project: str, environment: str, pk: int
) -> HttpResponse:
    """Read the held file again: other roles, other columns, another format or split."""
    row = _environment(actor, project, environment)
    imported = queries.get_import(actor, row, pk)
    try:
        changed = actions.change_import(
            actor=actor, imported=imported, **_changes(request, actor, imported)
        )
    except (Refusal, DialogueError) as problem:
        if is_partial(request):
            raise
        say(request, problem)
        changed = imported
    if is_partial(request) and not changed.is_open:
        context = _page_context(request, actor, changed)
        return render(request, "studio/parts/import_body.html", context)
    return _go_to(request, f"{_address('import_page', row, pk)}?{request.GET.urlencode()}")


def _changes(request: HttpRequest, actor: Actor, imported: Any) -> dict[str, Any]:
    """What the sent form changes: roles, the mapping, or how the file is read."""
    sent = request.POST
    match sent.get("change"):
        case "role":
            return {"roles": read_roles(sent, imported.roles or {})}
        case "no-roles":
            return {"roles": None}
        case "mapping":
            first = queries.first_values(actor, imported, limit=FIRST_ROWS)
            columns = column_names(first)
            # Columns beyond those that a page shows are not sent.
            unsent = {f"use-{number}": "attribute" for number in range(len(columns))}
            return {"mapping": read_mapping(unsent | sent.dict(), columns)}
        case _:
            form = ReadingForm(sent)
            if not form.is_valid():
                name, faults = next(iter(form.errors.items()))
                raise Invalid(str(faults[0]), place=name)
            return dict(form.cleaned_data)


@require_POST
@page
def import_accept(
    request: HttpRequest, actor: Actor, project: str, environment: str, pk: int
) -> HttpResponse:
    row = _environment(actor, project, environment)
    imported = queries.get_import(actor, row, pk)
    try:
        actions.accept_import(actor=actor, imported=imported)
    except (Refusal, DialogueError) as problem:
        say(request, problem)
    return redirect(_address("import_page", row, pk))


@require_POST
@page
def import_discard(
    request: HttpRequest, actor: Actor, project: str, environment: str, pk: int
) -> HttpResponse:
    row = _environment(actor, project, environment)
    imported = queries.get_import(actor, row, pk)
    try:
        actions.discard_import(actor=actor, imported=imported)
    except (Refusal, DialogueError) as problem:
        say(request, problem)
        return redirect(_address("import_page", row, pk))
    messages.success(request, f"Nothing of {imported.file_name} was kept.")
    return redirect(_address("import", row))


@require_POST
@page
def import_undo(
    request: HttpRequest, actor: Actor, project: str, environment: str, pk: int
) -> HttpResponse:
    row = _environment(actor, project, environment)
    imported = queries.get_import(actor, row, pk)
    try:
        actions.undo_import(actor=actor, imported=imported)
    except (Refusal, DialogueError) as problem:
        say(request, problem)
    return redirect(_address("import_page", row, pk))
