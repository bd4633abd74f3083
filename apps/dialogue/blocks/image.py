from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from apps.dialogue.blocks.base import BlockBase, Role, Text


def _bare_base64(data: str) -> str:
    if data[:5].lower() == "data:":
        fault = "must be bare base64, without the 'data:...;base64,' in front"
        raise PydanticCustomError("unstorable", "{fault}", {"fault": fault})
    return data


class ImageBlock(BlockBase):
    """An image: ``data`` is base64 without a ``data:`` prefix, ``mimeType`` like ``image/png``."""

    ROLES: ClassVar[frozenset[Role]] = frozenset({"system", "user", "assistant"})

    type: Literal["image"] = "image"
    data: Annotated[Text, AfterValidator(_bare_base64)]
    mimeType: Text  # noqa: N815 - the name on the wire

    def to_wire(self) -> dict[str, Any]:
        return {
            "data": self.data,
            "mimeType": self.mimeType,
            "detail": self.detail_to_wire(),
            "type": "image",
        }
