"""Which row of an import is looked at, and which lines of its ledger are listed, as addresses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from apps.dialogue.file_formats import Note
from apps.studio.paging import whole_number
from apps.tasks.ledgers import LedgerLine, LedgerPage

LINES_SHOWN = 50
NOTES_SHOWN = 50
FILTERS = ("outcome", "kind", "code")


@dataclass(frozen=True)
class Chosen:
    """Which row is looked at, and which lines of the ledger are listed, as the address says.

    ``turn`` is the first turn of the row that is shown, counted from 0.
    """

    row: int | None
    after: int
    outcome: str
    kind: str
    code: str
    turn: int = 0

    @classmethod
    def of(cls, sent: Mapping[str, str], rows: int) -> "Chosen":
        """What an address says of an import with so many ``rows``; a row beyond them is none."""
        row, after, turn = (sent.get(name, "") for name in ("row", "after", "turn"))
        asked = whole_number(row, place="row") if row else rows
        return cls(
            row=asked if asked < rows else None,
            after=whole_number(after, place="after") if after else 0,
            outcome=sent.get("outcome", ""),
            kind=sent.get("kind", ""),
            code=sent.get("code", ""),
            turn=whole_number(turn, place="turn") if turn else 0,
        )

    @property
    def is_narrowed(self) -> bool:
        return any(getattr(self, name) for name in FILTERS)

    @property
    def first(self) -> int:
        """The row the ledger is listed from: the page with the row that is looked at."""
        if self.row is None or self.is_narrowed:
            return self.after
        return self.row - self.row % LINES_SHOWN

    def at(self, row: int) -> str:
        """The address of another row, on this page of the ledger."""
        after = f"after={self.after}&" if self.after and self.is_narrowed else ""
        return f"{self.filters}{after}row={row}"

    @property
    def filters(self) -> str:
        """The filters, to be continued by a row or a page in an address."""
        chosen = urlencode({name: getattr(self, name) for name in FILTERS if getattr(self, name)})
        return f"{chosen}&" if chosen else ""

    @property
    def address(self) -> str:
        """All that is chosen."""
        more = {
            "after": self.after or "",
            "row": "" if self.row is None else self.row,
            "turn": self.turn or "",
        }
        return self.filters + urlencode(
            {name: value for name, value in more.items() if value != ""}
        )


@dataclass(frozen=True)
class ShownNotes:
    """The first notes of a row, and how many more it has."""

    first: Sequence[Note]
    more: int

    @classmethod
    def of(cls, line: LedgerLine) -> "ShownNotes":
        return cls(line.notes[:NOTES_SHOWN], max(0, len(line.notes) - NOTES_SHOWN))


@dataclass(frozen=True)
class ListedLine:
    """A line of the ledger and the address that shows its row."""

    entry: LedgerLine
    address: str

    @property
    def notes(self) -> ShownNotes:
        return ShownNotes.of(self.entry)


@dataclass(frozen=True)
class Beside:
    """The addresses of the rows before and behind one; empty where there is none."""

    before: str
    behind: str


def beside(line: LedgerLine, rows: int, chosen: Chosen, ledger: LedgerPage) -> Beside:
    """The neighbours of a row among those that are listed, of all ``rows`` if none is left out.

    Behind the last listed row the next page of the ledger follows.
    """
    if not chosen.is_narrowed:
        return Beside(
            before=chosen.at(line.row - 1) if line.row else "",
            behind=chosen.at(line.row + 1) if line.row + 1 < rows else "",
        )
    above = [each.row for each in ledger.lines if each.row < line.row]
    below = [each.row for each in ledger.lines if each.row > line.row]
    further = f"{chosen.filters}after={ledger.next}" if ledger.next is not None else ""
    return Beside(
        before=chosen.at(above[-1]) if above else "",
        behind=chosen.at(below[0]) if below else further,
    )
