"""Import: what a file would become is shown line by line; nothing is kept before it is accepted."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from apps.accounts.errors import Invalid, NotFound, Refusal
from apps.accounts.permissions import Actor, Right
from apps.accounts.queries import get_project
from apps.dialogue.errors import DialogueError
from apps.dialogue.file_formats import AUTO, FORMATS, ReadRow, read_tasks
from apps.studio.doors import page
from apps.studio.errors import show_on_form
from apps.studio.forms.importing import PASTED, AcceptForm, ImportForm
from apps.studio.held_files import discard, hold, open_held
from apps.studio.reading import ShownMessage, show_conversation
from apps.tasks.actions import ImportLedger, LedgerLine, create_split, import_rows
from apps.tasks.queries import get_environment, get_split, splits

LINES_SHOWN = 200
SPECIMENS = 3


@dataclass(frozen=True)
class Wanted:
    """Where the rows of a file go, and how they are read."""

    split: str
    format: str
    update: bool
    source: str


@dataclass(frozen=True)
class Specimen:
    """One of the first conversations of a file, as it would be."""

    key: str
    format: str
    messages: list[ShownMessage]


@dataclass(frozen=True)
class ShownLedger:
    """A ledger to read: refused rows first, then those with something to say, then the rest."""

    ledger: ImportLedger
    lines: list[LedgerLine]
    left_out: int
    notes: dict[str, int]

    @property
    def tasks(self) -> int:
        return self.ledger.created + self.ledger.updated


@require_http_methods(["GET", "HEAD", "POST"])
@page
def import_tasks(
    request: HttpRequest, actor: Actor, project: str, environment: str
) -> HttpResponse:
    row = get_environment(actor, get_project(actor, project), environment, Right.AUTHOR)
    if request.method == "POST" and "token" in request.POST:
        return _accepted(request, actor, row)
    if request.method == "POST":
        return _held(request, actor, row)
    if "preview" in request.GET:
        return _previewed(request, actor, row)
    return _form_page(request, actor, row, ImportForm(initial=_initial(request, actor, row)))


def _initial(request: HttpRequest, actor: Actor, environment: Any) -> dict[str, Any]:
    """The first split, what the address asks for, and with ``token`` the text of a preview."""
    first = next((split.name for split in splits(actor, environment)), "train")
    asked = {name: request.GET[name] for name in ("split", "format") if request.GET.get(name)}
    initial = {"split": first, **asked, "update": request.GET.get("update") == "True"}
    if request.GET.get("source") == PASTED and (token := request.GET.get("token")):
        with open_held(_person(actor), token) as file:
            initial["text"] = file.read().decode()
    return initial


def _form_page(
    request: HttpRequest, actor: Actor, environment: Any, form: ImportForm
) -> HttpResponse:
    context = {
        "project": environment.project,
        "environment": environment,
        "splits": splits(actor, environment),
        "form": form,
        "formats": FORMATS.values(),
    }
    status = 422 if form.errors else 200
    return render(request, "studio/pages/import.html", context, status=status)


def _held(request: HttpRequest, actor: Actor, environment: Any) -> HttpResponse:
    """Keep what was sent and go to its preview, which can be reloaded and come back to."""
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _form_page(request, actor, environment, form)
    wanted = Wanted(
        split=form.cleaned_data["split"],
        format=form.cleaned_data["format"],
        update=form.cleaned_data["update"],
        source=form.source(),
    )
    person = _person(actor)
    token = hold(person, form.pieces())
    try:
        with _taken_back():
            _split(actor, environment, wanted.split)
        if _is_empty(person, token, wanted):
            raise Invalid(f"There are no rows in {wanted.source}.")
    except (Refusal, DialogueError) as problem:
        discard(person, token)
        show_on_form(form, problem, {"name": "split"})
        return _form_page(request, actor, environment, form)
    query = urlencode({"preview": "", "token": token, **vars(wanted)})
    return redirect(f"{request.path}?{query}")


def _is_empty(person: int, token: str, wanted: Wanted) -> bool:
    with open_held(person, token) as file:
        rows = islice(read_tasks(file, format=wanted.format, file_name=wanted.source), 2)
        codes = [[note.code for note in row.notes] for row in rows]
    return codes in ([], [["empty_file"]])


def _previewed(request: HttpRequest, actor: Actor, environment: Any) -> HttpResponse:
    """Import everything, look at what came of it, and take it back."""
    asked = AcceptForm(request.GET)
    if not asked.is_valid():
        raise Invalid("This is not the address of a preview; begin with the file again.")
    chosen = dict(asked.cleaned_data)
    token = chosen.pop("token")
    wanted = Wanted(**chosen)
    person = _person(actor)
    with _taken_back():
        ledger = _imported(actor, environment, person, token, wanted)
    context = {
        "project": environment.project,
        "environment": environment,
        "wanted": wanted,
        "shown": _shown(ledger),
        "specimens": _specimens(person, token, wanted),
        "form": AcceptForm(initial={**vars(wanted), "token": token}),
        "again": urlencode({"token": token, **vars(wanted)}),
    }
    return render(request, "studio/pages/import_preview.html", context)


@contextmanager
def _taken_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def _accepted(request: HttpRequest, actor: Actor, environment: Any) -> HttpResponse:
    form = AcceptForm(request.POST)
    if not form.is_valid():
        return _form_page(request, actor, environment, ImportForm(initial={"split": "train"}))
    chosen = dict(form.cleaned_data)
    token = chosen.pop("token")
    wanted = Wanted(**chosen)
    person = _person(actor)
    ledger = _imported(actor, environment, person, token, wanted)
    discard(person, token)
    context = {
        "project": environment.project,
        "environment": environment,
        "wanted": wanted,
        "shown": _shown(ledger),
    }
    return render(request, "studio/pages/import_done.html", context)


def _person(actor: Actor) -> int:
    if actor.user is None:
        raise NotFound("Nobody is signed in.")
    return actor.user.pk


def _imported(
    actor: Actor, environment: Any, person: int, token: str, wanted: Wanted
) -> ImportLedger:
    with open_held(person, token) as file:
        rows = read_tasks(file, format=wanted.format, file_name=wanted.source)
        return import_rows(
            actor=actor,
            environment=environment,
            split=_split(actor, environment, wanted.split),
            rows=rows,
            update=wanted.update,
        )


def _split(actor: Actor, environment: Any, name: str) -> Any:
    try:
        return get_split(actor, environment, name)
    except NotFound:
        return create_split(actor=actor, environment=environment, name=name)


def _specimens(person: int, token: str, wanted: Wanted) -> list[Specimen]:
    with open_held(person, token) as file:
        rows = read_tasks(file, format=wanted.format, file_name=wanted.source)
        good = (row for row in rows if row.task is not None)
        return [_specimen(row) for row in islice(good, SPECIMENS)]


def _specimen(row: ReadRow) -> Specimen:
    format_ = FORMATS.get(row.format or AUTO)
    messages = row.task.messages if row.task else ()
    return Specimen(
        key=(row.task.key if row.task else None) or "",
        format=format_.title if format_ else "",
        messages=show_conversation(messages, prefix=f"specimen-{row.line}"),
    )


def _shown(ledger: ImportLedger) -> ShownLedger:
    """Refused rows first, then those to which anything happened but that all was kept."""

    def order(line: LedgerLine) -> tuple[bool, bool, int]:
        plain = all(note.code == "attributes" for note in line.notes)
        return line.outcome != "refused", plain, line.line

    lines = sorted(ledger.lines, key=order)
    return ShownLedger(
        ledger=ledger,
        lines=lines[:LINES_SHOWN],
        left_out=ledger.read - min(len(lines), LINES_SHOWN),
        notes=dict(Counter(note.kind for line in ledger.lines for note in line.notes)),
    )
