r"""Script mode: a whole conversation as one text document, written and read back byte for byte.

    s: You are the service desk of a shop.

    u: Where is my order?
    It is number 17.

    a: Let me look.
    call order_status {"order": 17}
    result: It was sent on Monday.

    a: It is on its way.

A line that starts with a marker starts a turn or a block; the lines below belong to it.

    s:  u:  a:          a turn of the system, the user, the assistant, and its first text
    +:                  one more text block of the same turn
    think:              reasoning of the assistant
    call NAME {...}     a tool call with its input, a JSON object, which may go on below
    call NAME #ID {...} the same with an id of its own
    result:             what the tool answered; also ``result #ID:``, ``result error:``, and
                        ``result #ID error:``
    result+:            one more text of the same result; also ``result+image ...``
    image TYPE DATA     an image, like ``image image/png iVBORw0...`` (bare base64)
    signature "..."     of the reasoning above
    detail {...}        of the block above; of the turn, if it stands right below a bare ``a:``;
                        ``result+detail {...}`` is of the text or image of a result above

*Turns.* ``s:``, ``u:`` and ``a:`` always start one. A call or reasoning goes on with the turn
above if that is the assistant's, and starts a turn of the assistant if not; a result does the same
with the user's. A bare ``u:``, with nothing below, is a turn without any block: a draft.

*Texts.* One space after the marker is not part of the text, nor are the blank lines (spaces and
tabs alone) before and after it, so turns may stand apart as anyone likes. Everything else is kept:
spaces at the ends of lines, blank lines inside. A ``\`` at the start of a line keeps the line from
being a marker (``\u: hi``) or from being blank (``\`` alone is an empty line that is kept, so
``u: \`` is an empty text); in front of anything else it is a character like every other, so LaTeX
is typed as it is. Lines end with LF; CRLF and CR are read as LF, and a carriage return that is
part of a text is written ``␍``. (That sign itself is ``\␍``; backslashes before it are doubled.)

*Ids.* A call without an id is ``call_1``, ``call_2`` and so on: its number among all the calls
above. A result without an id answers the first call of the assistant's turn above that has no
result yet. Written out is what differs from that.

*Names.* A name, id, type or datum that is more than one plain word is a JSON string:
``call "read file" {}``.
"""

from apps.dialogue.script_text.reading import Script, read_script
from apps.dialogue.script_text.writing import write_script

__all__ = ["Script", "read_script", "write_script"]
