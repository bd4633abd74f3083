"""``/prompt`` is byte for byte what the reference makes of a conversation (rule F1)."""

import json

from hypothesis import given
from openreward.environments.types import Message as ReferenceMessage
from openreward.environments.utils import flatten_messages

from apps.dialogue.flattening import flatten
from apps.dialogue.message import Message, conversation_to_wire, text_message
from tests.dialogue.conversations import conversations


@given(conversations())
def test_flattening_is_what_the_reference_does(messages: tuple[Message, ...]) -> None:
    held = [ReferenceMessage.model_validate(each) for each in conversation_to_wire(messages)]
    served = [block.model_dump(mode="json") for block in flatten_messages(held)]
    assert json.dumps(flatten(messages)) == json.dumps(served)


def test_a_lone_user_message_goes_out_as_it_is_and_two_get_headers() -> None:
    one = text_message("user", "hi")
    assert flatten([one]) == [{"text": "hi", "detail": None, "type": "text"}]
    assert [block["text"] for block in flatten([one, one])] == ["[user]", "hi", "[user]", "hi"]
