"""The task editor's page, saving from it, and its previews."""

import json
from typing import Any

import pytest
from django.test import Client

from apps.accounts.permissions import Actor
from apps.dialogue.flattening import flatten
from apps.dialogue.provider_formats import convert
from apps.tasks.actions import create_split, save_revision
from apps.tasks.models import Environment, Split, Task
from apps.tasks.queries import content_of
from tests.cast import PASSWORD, Cast
from tests.factories import call, make_content, make_task, message, result

TASKS = "/projects/alpha/environments/shop/tasks/"
# What JSON readers like to change: kinds of numbers, big integers, key order, nulls, odd spaces.
ODD = (
    '{"messages":[{"role":"user","blocks":[{"type":"text","text":"a\\r\\nb \\u2028",'
    '"detail":{"z":1.0,"a":100.0}}],"detail":{"k":[]}},'
    '{"role":"assistant","blocks":[{"type":"reasoning","text":"","signature":"sig"},'
    '{"type":"tool_call","id":"c1","name":"f",'
    '"input":{"z":1.0,"b":12345678901234567890123,"a":{"y":null,"x":1e22}}}]},'
    '{"role":"user","blocks":[{"type":"tool_result","tool_call_id":"c1","blocks":[],'
    '"is_error":true}]}],"attributes":{"target":2.50,"big":98765432109876543210}}'
)


@pytest.fixture
def client(cast: Cast) -> Client:
    """The author, signed in."""
    client = Client()
    assert client.login(username="author", password=PASSWORD)
    return client


@pytest.fixture
def odd_task(split: Split, author: Actor) -> Task:
    return make_task(actor=author, split=split, content=json.loads(ODD), status="ready", key="odd")


def handed(client: Client, address: str) -> dict[str, Any]:
    """What the page hands to the editor."""
    response = client.get(address)
    assert response.status_code == 200
    return dict(response.context["editor"])


def post(client: Client, address: str, body: Any) -> Any:
    raw = body if isinstance(body, str | bytes) else json.dumps(body)
    return client.post(address, raw, content_type="application/json")


def document(task: Task, **changes: Any) -> dict[str, Any]:
    assert task.current is not None
    return {
        "base": task.current.number,
        "key": task.key,
        "split": task.split.name,
        "status": task.status,
        "message": "",
        "content": json.loads(task.current.content),
    } | changes


def spliced(task: Task, content: str) -> str:
    """The body as the editor writes it: the content goes in as text."""
    facts = document(task)
    del facts["content"]
    return json.dumps(facts)[:-1] + f',"content":{content}}}'


class TestThePage:
    def test_hands_over_the_canonical_text_of_the_current_revision(
        self, client: Client, odd_task: Task
    ) -> None:
        given = handed(client, f"{TASKS}{odd_task.pk}/")
        assert odd_task.current is not None
        assert given["document"] == {
            "number": 1,
            "content": odd_task.current.content,
            "key": "odd",
            "split": "train",
            "status": "ready",
        }
        assert given["may_edit"] is True
        assert given["tools"] == ["answer"]

    def test_is_for_reading_only_where_that_is_the_right(self, cast: Cast, task: Task) -> None:
        viewer = Client()
        viewer.login(username="viewer", password=PASSWORD)
        assert handed(viewer, f"{TASKS}{task.pk}/")["may_edit"] is False

    def test_is_nothing_for_a_stranger_to_the_project(self, cast: Cast, task: Task) -> None:
        outsider = Client()
        outsider.login(username="outsider", password=PASSWORD)
        assert outsider.get(f"{TASKS}{task.pk}/").status_code == 404
        assert outsider.get(f"{TASKS}new/").status_code == 404

    def test_asks_for_a_sign_in(self, task: Task) -> None:
        response = Client().get(f"{TASKS}{task.pk}/")
        assert response.status_code == 302
        assert response["Location"].startswith("/accounts/login/")

    def test_of_a_new_task_begins_in_the_split_that_was_asked_for(
        self, client: Client, split: Split, author: Actor
    ) -> None:
        create_split(actor=author, environment=split.environment, name="test")
        assert handed(client, f"{TASKS}new/?split=test")["document"]["split"] == "test"
        assert handed(client, f"{TASKS}new/?split=nowhere")["document"]["split"] == "train"

    def test_of_a_new_task_is_closed_to_a_viewer(self, cast: Cast, split: Split) -> None:
        viewer = Client()
        viewer.login(username="viewer", password=PASSWORD)
        assert viewer.get(f"{TASKS}new/").status_code == 403

    def test_of_a_task_that_is_not_there_is_not_found(self, client: Client, task: Task) -> None:
        assert client.get(f"{TASKS}{task.pk + 999}/").status_code == 404

    def test_never_breaks_out_of_its_data(self, client: Client, split: Split) -> None:
        text = "</script><script>alert(1)</script>"
        task = make_task(split=split, content=make_content(message("user", text)))
        assert b"<script>alert" not in client.get(f"{TASKS}{task.pk}/").content


class TestSaving:
    def test_what_was_not_touched_makes_no_revision(self, client: Client, odd_task: Task) -> None:
        given = handed(client, f"{TASKS}{odd_task.pk}/")
        answer = post(client, given["save"], spliced(odd_task, given["document"]["content"]))
        assert (answer.status_code, answer.json()["number"]) == (200, 1)
        assert odd_task.revisions.count() == 1

    def test_one_edited_block_changes_nothing_else(self, client: Client, odd_task: Task) -> None:
        given = handed(client, f"{TASKS}{odd_task.pk}/")
        before: str = given["document"]["content"]
        edited = before.replace('"signature":"sig"', '"signature":"new"')
        assert edited != before
        answer = post(client, given["save"], spliced(odd_task, edited))
        assert answer.json()["number"] == 2
        odd_task.refresh_from_db()
        assert odd_task.current is not None
        assert odd_task.current.content == edited

    def test_spaces_between_the_parts_of_json_make_no_revision(
        self, client: Client, odd_task: Task
    ) -> None:
        given = handed(client, f"{TASKS}{odd_task.pk}/")
        laid_out = given["document"]["content"].replace('{"z":1.0,', '{\n  "z": 1.0,\n ')
        assert post(client, given["save"], spliced(odd_task, laid_out)).json()["number"] == 1

    def test_keeps_the_message_and_the_author(self, client: Client, task: Task) -> None:
        body = document(task, message="Shorter", content=make_content(message("user", "Hi")))
        post(client, f"{TASKS}{task.pk}/save/", body)
        newest = task.revisions.get(number=2)
        assert (newest.message, newest.author) == ("Shorter", "author")

    def test_from_an_old_revision_answers_with_theirs_and_the_base(
        self, client: Client, task: Task, cast: Cast
    ) -> None:
        mine = document(task, content=make_content(message("user", "Mine")))
        owner = Actor(user=cast.owner)
        theirs = make_content(message("user", "Theirs"))
        save_revision(actor=owner, task=task, base=1, content=theirs, message="Faster")
        answer = post(client, f"{TASKS}{task.pk}/save/", mine)
        assert answer.status_code == 409
        told = answer.json()
        current = told["current"]
        assert json.loads(current["content"])["messages"][0]["blocks"][0]["text"] == "Theirs"
        assert (current["number"], current["author"], current["message"]) == (2, "owner", "Faster")
        assert told["base"]["number"] == 1
        assert json.loads(told["base"]["content"])["messages"][0]["role"] == "user"
        assert task.revisions.count() == 2

    def test_a_wrong_block_is_refused_with_its_place(self, client: Client, task: Task) -> None:
        content = make_content(message("user", "Hi"), message("user", {"type": "text", "text": 3}))
        answer = post(client, f"{TASKS}{task.pk}/save/", document(task, content=content))
        assert answer.status_code == 422
        assert answer.json()["place"] == "messages[1].blocks[0].text"
        assert answer.json()["message"] == "must be a text, not a number"
        assert task.revisions.count() == 1

    def test_a_picture_that_is_none_is_refused_with_its_place(
        self, client: Client, task: Task
    ) -> None:
        fake = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
        body = document(task, content=make_content(message("user", "Look", fake)))
        answer = post(client, f"{TASKS}{task.pk}/save/", body)
        assert (answer.status_code, answer.json()["place"]) == (422, "messages[0].blocks[1].data")
        assert answer.json()["message"] == "is not a whole PNG picture"
        assert task.revisions.count() == 1
        made = post(client, f"{TASKS}create/", body | {"base": 0, "key": "new"})
        assert (made.status_code, made.json()["place"]) == (422, "messages[0].blocks[1].data")

    def test_a_placeholder_that_was_imported_does_not_hinder_an_edit_beside_it(
        self, client: Client, split: Split
    ) -> None:
        fake = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
        task = make_task(split=split, content=make_content(message("user", "Look", fake)))
        body = document(task, content=make_content(message("user", "See", fake)))
        assert post(client, f"{TASKS}{task.pk}/save/", body).json()["number"] == 2

    def test_ready_with_a_call_left_behind_is_refused_with_its_place(
        self, client: Client, task: Task
    ) -> None:
        content = make_content(message("assistant", call("c1", "f")), message("user", "And?"))
        answer = post(client, f"{TASKS}{task.pk}/save/", document(task, content=content))
        assert answer.status_code == 422
        assert answer.json()["place"] == "messages[0].blocks[0]"
        draft = document(task, content=content, status="draft")
        assert post(client, f"{TASKS}{task.pk}/save/", draft).json()["status"] == "draft"

    def test_may_rename_and_move_the_task(self, client: Client, task: Task, author: Actor) -> None:
        create_split(actor=author, environment=task.environment, name="test")
        answer = post(client, f"{TASKS}{task.pk}/save/", document(task, key="parcel", split="test"))
        assert answer.status_code == 200
        task.refresh_from_db()
        assert (task.key, task.split.name) == ("parcel", "test")
        assert task.revisions.count() == 2
        assert task.current is not None
        assert answer.json()["number"] == task.current.number

    def test_under_a_taken_key_changes_nothing_at_all(
        self, client: Client, task: Task, odd_task: Task
    ) -> None:
        content = make_content(message("user", "New"))
        body = document(task, key="odd", content=content)
        answer = post(client, f"{TASKS}{task.pk}/save/", body)
        assert (answer.status_code, answer.json()["place"]) == (409, "key")
        assert "current" not in answer.json()
        task.refresh_from_db()
        assert task.revisions.count() == 1
        assert task.current is not None
        assert content_of(task.current).messages[0].text != "New"

    def test_is_refused_to_a_viewer_and_to_a_stranger(self, cast: Cast, task: Task) -> None:
        for name, status in (("viewer", 403), ("annotator", 403), ("outsider", 404)):
            client = Client()
            client.login(username=name, password=PASSWORD)
            answer = post(client, f"{TASKS}{task.pk}/save/", document(task))
            assert answer.status_code == status
            assert answer.json()["message"]

    def test_without_the_csrf_token_is_refused(self, cast: Cast, task: Task) -> None:
        client = Client(enforce_csrf_checks=True)
        client.login(username="author", password=PASSWORD)
        assert post(client, f"{TASKS}{task.pk}/save/", document(task)).status_code == 403

    @pytest.mark.parametrize(
        ("body", "place"),
        [
            (b"", "body"),
            (b"{", "body"),
            (b"\xff", "body"),
            (b"[" * 100_000, "body"),
            (b"[]", "body"),
            (b"null", "body"),
            (b'{"base": NaN}', "body"),
            (b'{"base": 1, "base": 2}', "body"),
            (b'{"base": ' + b"9" * 5000 + b"}", "body"),
            (b"{}", "base"),
            (b'{"base":"1","key":"k","split":"train","status":"draft","content":{}}', "base"),
            (b'{"base":1,"key":"k","split":"train","status":"draft","content":[]}', "content"),
            (b'{"base":1,"key":3,"split":"train","status":"draft","content":{}}', "key"),
            (b'{"base":1,"key":"k","split":"train","status":"odd","content":{}}', "status"),
            (b'{"base":1,"key":"k","split":"no","status":"draft","content":{}}', "split"),
            (b'{"base":1,"key":"","split":"train","status":"draft","content":{}}', "key"),
            (
                b'{"base":1,"key":"k","split":"train","status":"draft","content":{"x":1}}',
                "x",
            ),
            (
                b'{"base":1,"key":"k","split":"train","status":"draft",'
                b'"content":{"attributes":{"a":"\\ud800"}}}',
                "attributes.a",
            ),
            (
                b'{"base":1,"key":"k\\u0000","split":"train","status":"draft","content":{}}',
                "key",
            ),
            (
                b'{"base":1,"key":"k","split":"\\u0000","status":"draft","content":{}}',
                "split",
            ),
        ],
    )
    def test_nonsense_is_refused_by_name_and_changes_nothing(
        self, client: Client, task: Task, body: bytes, place: str
    ) -> None:
        answer = post(client, f"{TASKS}{task.pk}/save/", body)
        assert 400 <= answer.status_code < 500
        assert answer.json()["place"] == place
        assert task.revisions.count() == 1

    @pytest.mark.parametrize("base", [0, -1, 99])
    def test_from_a_revision_that_never_was_is_a_conflict(
        self, client: Client, task: Task, base: int
    ) -> None:
        answer = post(client, f"{TASKS}{task.pk}/save/", document(task, base=base))
        assert answer.status_code in {404, 409}
        assert answer.json()["message"]


class TestANewTask:
    def test_is_made_by_its_first_save(self, client: Client, split: Split) -> None:
        body = {
            "base": 0,
            "key": "first",
            "split": "train",
            "status": "ready",
            "message": "",
            "content": make_content(message("user", "Hello?")),
        }
        answer = post(client, f"{TASKS}create/", body)
        assert answer.status_code == 201
        addresses = answer.json()["addresses"]
        assert handed(client, addresses["page"])["save"] == addresses["save"]
        assert client.get(addresses["history"]).status_code == 200
        assert Task.objects.get(key="first").status == "ready"

    def test_without_a_key_is_given_one(self, client: Client, split: Split) -> None:
        body = {"base": 0, "key": "", "split": "train", "status": "draft", "content": {}}
        assert post(client, f"{TASKS}create/", body).json()["key"] == "task-1"

    def test_of_a_taken_key_says_so_at_the_key(
        self, client: Client, split: Split, odd_task: Task
    ) -> None:
        body = {"base": 0, "key": "odd", "split": "train", "status": "draft", "content": {}}
        answer = post(client, f"{TASKS}create/", body)
        assert (answer.status_code, answer.json()["place"]) == (409, "key")

    def test_in_an_environment_without_splits_says_so_at_the_split(
        self, client: Client, environment: Environment
    ) -> None:
        body = {"base": 0, "key": "a", "split": "", "status": "draft", "content": {}}
        answer = post(client, f"{TASKS}create/", body)
        assert (answer.status_code, answer.json()["place"]) == (404, "split")


class TestBecomingReady:
    content = make_content(
        message("user", "Hi"), message("assistant", {"type": "reasoning", "text": "Hm"})
    )

    def test_tells_the_formats_that_harnesses_are_refused(
        self, client: Client, task: Task, author: Actor
    ) -> None:
        given = handed(client, f"{TASKS}{task.pk}/")
        body = document(task, content=self.content, status="ready")
        answer = post(client, given["save"], body)
        assert answer.status_code == 200, answer.json()
        assert answer.json()["unserved"] == ["google"]

    def test_says_nothing_of_a_draft(self, client: Client, task: Task) -> None:
        given = handed(client, f"{TASKS}{task.pk}/")
        body = document(task, content=self.content, status="draft")
        assert post(client, given["save"], body).json()["unserved"] == []


class TestPreviews:
    address = f"{TASKS}preview/"

    def test_are_what_the_conversion_makes_of_the_conversation(
        self, client: Client, task: Task
    ) -> None:
        assert task.current is not None
        messages = content_of(task.current).messages
        body = {"content": json.loads(task.current.content), "formats": ["openai", "prompt"]}
        told = post(client, self.address, body).json()
        assert json.loads(told["payloads"]["openai"]["json"]) == convert(messages, "openai")
        assert json.loads(told["payloads"]["prompt"]["json"]) == flatten(messages)
        assert told["problems"] == []

    def test_name_the_block_that_a_provider_cannot_carry(
        self, client: Client, split: Split
    ) -> None:
        content = make_content(message("assistant", {"type": "reasoning", "text": "Hm."}, "Yes."))
        told = post(client, self.address, {"content": content, "formats": ["google"]}).json()
        assert told["payloads"]["google"]["place"].startswith("messages[0]")
        assert "reasoning" in told["payloads"]["google"]["message"]

    def test_tell_all_that_every_provider_would_refuse(self, client: Client, split: Split) -> None:
        thought = {"type": "reasoning", "text": "Hm."}
        picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
        content = make_content(message("user", "Hi"), message("assistant", thought, picture))
        told = post(client, self.address, {"content": content}).json()
        places = {
            name: [each["place"] for each in said if each["severity"] == "error"]
            for name, said in told["lens"].items()
        }
        assert places == {
            "openai": ["messages[1].blocks[1]"],
            "anthropic": [],
            "google": ["messages[1].blocks[0]"],
            "prompt": [],
        }
        assert {each["severity"] for each in told["lens"]["anthropic"]} == {"warning"}
        assert told["payloads"] == {}

    def test_count_tokens_and_say_whose(self, client: Client, split: Split) -> None:
        content = make_content(message("user", "one two three"), message("assistant", "four"))
        tokens = post(client, self.address, {"content": content}).json()["tokens"]
        assert tokens["tokens"] == sum(tokens["turns"])
        assert len(tokens["turns"]) == 2
        assert tokens["exact"] in (None, "o200k_base")

    def test_tell_the_problems_with_their_places(self, client: Client, split: Split) -> None:
        content = make_content(message("user", result("c9", "late")))
        told = post(client, self.address, {"content": content}).json()
        assert [(each["place"], each["severity"]) for each in told["problems"]] == [
            ("messages[0].blocks[0]", "error")
        ]

    def test_cut_pictures_short(self, client: Client, split: Split) -> None:
        picture = {"type": "image", "data": "A" * 9000, "mimeType": "image/png"}
        content = make_content(message("user", picture))
        told = post(client, self.address, {"content": content, "formats": ["anthropic"]}).json()
        assert len(told["payloads"]["anthropic"]["json"]) < 1000
        assert "9,000 characters" in told["payloads"]["anthropic"]["json"]

    def test_of_a_wrong_message_are_refused_with_its_place(
        self, client: Client, split: Split
    ) -> None:
        content = {"messages": [{"role": "user", "blocks": [{"type": "tool_call"}]}]}
        answer = post(client, self.address, {"content": content})
        assert answer.status_code == 422
        assert answer.json()["place"].startswith("messages[0].blocks[0]")

    def test_in_an_unknown_format_are_refused(self, client: Client, split: Split) -> None:
        answer = post(client, self.address, {"content": {}, "formats": ["carrier pigeon"]})
        assert (answer.status_code, answer.json()["place"]) == (422, "formats[0]")

    def test_are_open_to_a_viewer_and_closed_to_a_stranger(self, cast: Cast, split: Split) -> None:
        for name, status in (("viewer", 200), ("outsider", 404)):
            client = Client()
            client.login(username=name, password=PASSWORD)
            assert post(client, self.address, {"content": {}}).status_code == status
