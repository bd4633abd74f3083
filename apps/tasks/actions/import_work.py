"""What a worker does for an import: the step that its row says. Safe to run twice, or at once."""

from contextlib import closing, suppress
from typing import Final

from apps.accounts.errors import DISK_FULL, NotFound, Refusal, is_disk_full
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.errors import DialogueError
from apps.tasks import leases
from apps.tasks.actions.deciding import batches, prepare_again
from apps.tasks.actions.environments import create_split
from apps.tasks.actions.importing import ImportWriter
from apps.tasks.actions.proposing import propose
from apps.tasks.actions.undoing import undo
from apps.tasks.garbage import collected_rarely
from apps.tasks.models import Import, ImportState, Split
from apps.tasks.queries import get_split
from apps.tasks.transfer_files import forget_proposal, held_file, proposal_of

UNFORESEEN: Final = "Something unforeseen happened; the log of the worker says what."


def storable(message: str) -> str:
    """A message that any database holds, whatever it quotes of a file."""
    return message.replace("\x00", "").encode("utf-8", "replace").decode()


def work_on(pk: int, should_stop: leases.ShouldStop) -> bool:
    """Do the open step of an import; True if it was begun and somebody has to go on."""
    imported = leases.claim(Import, pk)
    if imported is None:
        return False
    try:
        with collected_rarely():
            _step(imported, should_stop)
    except leases.LeaseLost:
        return False
    except leases.Stopped:
        leases.give_back(imported)
        return True
    except (Refusal, DialogueError) as error:
        _fail(imported, error.message)
    except Exception as error:
        _fail(imported, DISK_FULL if is_disk_full(error) else UNFORESEEN)
        raise
    return False


def _step(imported: Import, should_stop: leases.ShouldStop) -> None:
    actor = leases.asked_by(imported)
    if actor is None:
        raise NotFound("Whoever asked for this is no longer here.")
    require(actor, imported.environment.project, Right.AUTHOR)
    if imported.attempts > leases.MOST_ATTEMPTS:
        raise NotFound(f"It was begun {leases.MOST_ATTEMPTS} times and never came to an end.")
    match imported.state:
        case ImportState.READING:
            _check_file(imported)
            propose(imported, should_stop)
        case ImportState.WRITING:
            _write(imported, actor, should_stop)
        case _:
            undo(imported, actor, should_stop)


def _check_file(imported: Import) -> None:
    if not imported.has_file or not held_file(imported).exists():
        raise NotFound("The file is no longer here.")


def _write(imported: Import, actor: Actor, should_stop: leases.ShouldStop) -> None:
    """Write what was proposed, from where an earlier worker ended."""
    proposal = proposal_of(imported)
    if not imported.has_file or not proposal.index_path.exists():
        raise NotFound("It was broken off, and what was left to write is no longer here.")
    split = _split(imported, actor)
    rows = proposal.proposals(imported.decided, imported.rows_read)
    with closing(ImportWriter(actor, imported, split)) as writer:
        for batch in batches(prepare_again(line, text) for line, text in rows):
            writer.write(batch)
            if should_stop():
                raise leases.Stopped
        writer.end()
    forget_proposal(imported)


def _split(imported: Import, actor: Actor) -> Split:
    try:
        return get_split(actor, imported.environment, imported.split)
    except NotFound:
        return create_split(actor=actor, environment=imported.environment, name=imported.split)


def _fail(imported: Import, message: str) -> None:
    """What was read so far was only a proposal, and counts for nothing; what was written stays."""
    nothing: dict[str, int] = {}
    if imported.state == ImportState.READING:
        nothing = dict.fromkeys(("rows_read", "created", "updated", "unchanged", "refused"), 0)
    with suppress(leases.LeaseLost):
        leases.finish(imported, ImportState.FAILED, error=storable(message), **nothing)
