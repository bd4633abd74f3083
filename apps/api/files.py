"""A file as the body of an answer."""

from typing import BinaryIO

from django.http import StreamingHttpResponse

from apps.api.parsing import PIECE


class FilePieces:
    """The bytes of an open file, piece by piece; it is closed at its end, or with the response."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __iter__(self) -> "FilePieces":
        return self

    def __next__(self) -> bytes:
        if self._file.closed:
            raise StopIteration
        if piece := self._file.read(PIECE):
            return piece
        self.close()
        raise StopIteration

    def close(self) -> None:
        self._file.close()


def file_response(file: BinaryIO, size: int, media_type: str, name: str) -> StreamingHttpResponse:
    """An attachment of ``size`` bytes, read from where the file stands."""
    response = StreamingHttpResponse(FilePieces(file), content_type=media_type)
    response["Content-Length"] = str(size)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
