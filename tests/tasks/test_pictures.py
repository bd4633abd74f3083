"""What passes for a picture where a person saves."""

import base64
import io

import pytest
from PIL import Image

from apps.accounts.errors import Invalid
from apps.tasks.content import parse_content
from apps.tasks.pictures import KINDS, LARGEST_BYTES, check_pictures, picture_fault
from tests.factories import message


def picture(kind: str = "PNG", size: tuple[int, int] = (3, 2)) -> str:
    written = io.BytesIO()
    Image.new("RGB", size, "teal").save(written, kind)
    return base64.b64encode(written.getvalue()).decode()


@pytest.mark.parametrize(("mime_type", "kind"), KINDS.items())
def test_a_picture_of_every_kind_passes_as_what_it_is(mime_type: str, kind: str) -> None:
    assert picture_fault(picture(kind), mime_type) == ""


@pytest.mark.parametrize(
    ("data", "mime_type", "fault"),
    [
        ("no base64!", "image/png", "is not base64"),
        ("AAAA", "image/png", "is not a whole PNG picture"),
        ("", "image/png", "is not a whole PNG picture"),
        (picture()[:60], "image/png", "is not a whole PNG picture"),
        (picture("JPEG", (64, 64))[:-200], "image/jpeg", "is not a whole JPEG picture"),
        (picture("GIF"), "image/png", "is GIF, not image/png as its mimeType says"),
        (picture(), "image/svg+xml", "is 'image/svg+xml', not one of"),
        ("A" * (LARGEST_BYTES * 4 // 3 + 8), "image/png", "is larger than 5 MB"),
    ],
)
def test_what_is_no_picture_of_its_kind_is_told(data: str, mime_type: str, fault: str) -> None:
    assert picture_fault(data, mime_type).startswith(fault)


@pytest.mark.parametrize("side", [7000, 14_000, 30_000])
def test_a_small_file_of_very_many_pixels_is_not_unfolded(side: int) -> None:
    written = io.BytesIO()
    Image.new("1", (side, side)).save(written, "PNG")
    data = base64.b64encode(written.getvalue()).decode()
    assert "40 million at most" in picture_fault(data, "image/png")


def test_the_place_of_a_wrong_picture_is_named_inside_of_a_result_too() -> None:
    wrong = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    right = {**wrong, "data": picture()}
    result = {"type": "tool_result", "tool_call_id": "c1", "blocks": [right, wrong]}
    content = parse_content({"messages": [message("user", "Look", right, result)]})
    with pytest.raises(Invalid) as refusal:
        check_pictures(content.messages)
    assert refusal.value.place == "messages[0].blocks[2].blocks[1].data"


def test_a_placeholder_that_was_there_before_passes() -> None:
    odd = {"type": "image", "data": "AAAA", "mimeType": "image/x-odd"}
    content = parse_content({"messages": [message("user", odd)]})
    check_pictures(content.messages, kept=content.messages)
