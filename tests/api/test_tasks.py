"""Tasks and their revisions over the API: whatever the browser can do, it can."""

from typing import Any

import pytest

from apps.tasks.models import Environment, Split, Task
from tests.api.callers import Caller
from tests.factories import conversation, make_content, make_task, message


@pytest.fixture
def shop(alpha: Caller) -> Caller:
    return alpha.at("environments/shop/")


def test_a_task_is_written_read_and_listed(shop: Caller, split: Split) -> None:
    content = make_content(message("user", "Hello?"), zebra=1, apple={"b": 1, "a": 2.50})
    made = shop.post(
        "tasks/", {"split": "train", "key": "hello", "content": content, "status": "ready"}
    )
    assert made.status == 201
    task = made.json
    assert (task["key"], task["status"], task["turns"], task["revision"]) == (
        "hello",
        "ready",
        1,
        1,
    )
    assert list(task["content"]["attributes"]) == ["zebra", "apple"]
    assert b'"apple":{"b":1,"a":2.5}' in made.body
    assert task["content"]["messages"][0]["blocks"][0]["text"] == "Hello?"
    assert shop.get(f"tasks/{task['id']}/").json == task
    listed = shop.get("tasks/").json["items"]
    assert [each["id"] for each in listed] == [task["id"]]
    assert shop.get("splits/").json["items"][0]["ready_count"] == 1


def test_a_draft_may_be_incomplete_and_says_what_is_missing(shop: Caller, split: Split) -> None:
    draft = shop.post("tasks/", {"split": "train", "content": {"messages": [message("user")]}})
    assert draft.status == 201
    assert draft.json["unready"] == [
        {"place": "messages[0].blocks", "message": "the message has no block yet"}
    ]
    refused = shop.patch(f"tasks/{draft.json['id']}/", {"status": "ready"})
    assert refused.status == 422
    assert refused.problem["place"] == "messages[0].blocks"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"content": {"messages": [{"role": "robot", "blocks": []}]}}, "content.messages[0].role"),
        ({"content": {"messages": [message("user", 7)]}}, "content.messages[0].blocks[0]"),
        (
            {"content": {"messages": [message("user", {"type": "text", "text": 7})]}},
            "content.messages[0].blocks[0].text",
        ),
        (
            {"content": {"messages": [message("user", {"type": "reasoning", "text": "x"})]}},
            "content.messages[0].blocks[0]",
        ),
        ({"content": {"messages": "hello"}}, "content.messages"),
        ({"content": {"attributes": {"id": 1}}}, "content.attributes.id"),
        ({"content": {"colour": "red"}}, "content.colour"),
        ({"content": {"tags": ["a", 1]}}, "content.tags[1]"),
        ({"content": []}, "content"),
        ({"content": None}, "content"),
        ({"key": " x"}, "key"),
        ({"status": "done"}, "status"),
        ({"split": "none"}, "split"),
        ({"grader": [{"type": "nonsense"}]}, "grader[0].type"),
        ({"message": "x" * 501}, "message"),
    ],
)
def test_a_wrong_task_is_refused_by_place_and_nothing_is_kept(
    shop: Caller, split: Split, change: dict[str, Any], place: str
) -> None:
    heard = shop.post("tasks/", {"split": "train", "content": make_content()} | change)
    assert heard.status == 422
    assert heard.problem["place"] == place
    assert not Task.objects.exists()


def test_a_taken_key_is_a_conflict(shop: Caller, task: Task) -> None:
    heard = shop.post("tasks/", {"split": "train", "key": task.key, "content": make_content()})
    assert heard.status == 409
    assert heard.problem["place"] == "key"


def test_a_save_makes_a_revision_and_an_equal_one_does_not(shop: Caller, task: Task) -> None:
    where = f"tasks/{task.pk}/revisions/"
    content = make_content(message("user", "Changed"))
    saved = shop.post(where, {"base": 1, "content": content, "message": "why"})
    assert saved.status == 201
    assert (saved.json["number"], saved.json["message"]) == (2, "why")
    again = shop.post(where, {"base": 2, "content": content})
    assert again.status == 200
    assert again.json == shop.get(where + "2/").json
    archived = shop.post(where, {"base": 2, "content": content, "status": "archived"})
    assert (archived.status, archived.json["number"]) == (200, 2)
    assert [each["number"] for each in shop.get(where).json["items"]] == [2, 1]


def test_a_stale_save_gets_409_with_the_current_revision(shop: Caller, task: Task) -> None:
    where = f"tasks/{task.pk}/revisions/"
    shop.post(where, {"base": 1, "content": make_content(message("user", "First"))})
    late = shop.post(where, {"base": 1, "content": make_content(message("user", "Second"))})
    assert late.status == 409
    current = late.problem["current"]
    assert current["number"] == 2
    assert current["content"]["messages"][0]["blocks"][0]["text"] == "First"
    assert shop.get(f"tasks/{task.pk}/").json["revision"] == 2


def test_a_revision_can_be_read_and_restored(shop: Caller, task: Task) -> None:
    where = f"tasks/{task.pk}/revisions/"
    shop.post(where, {"base": 1, "content": make_content(message("user", "Changed"))})
    first = shop.get(where + "1/").json
    assert len(first["content"]["messages"]) == len(conversation())
    assert shop.post(where + "1/restore/", {"base": 1}).status == 409
    restored = shop.post(where + "1/restore/", {"base": 2})
    assert restored.status == 201
    assert restored.json["number"] == 3
    assert restored.json["content"] == first["content"]
    assert shop.post(where + "1/restore/", {"base": 3}).status == 200
    assert shop.get(where + "9/").status == 404
    assert shop.post(where + "9/restore/", {"base": 3}).status == 404


def test_a_task_is_renamed_moved_and_archived_at_once_or_not_at_all(
    shop: Caller, task: Task
) -> None:
    shop.post("splits/", {"name": "test"})
    where = f"tasks/{task.pk}/"
    assert shop.patch(where, {"key": "other", "split": "nowhere"}).status == 422
    assert shop.get(where).json["key"] == task.key
    changed = shop.patch(where, {"key": "other", "split": "test", "status": "archived"}).json
    assert (changed["key"], changed["split"], changed["status"]) == ("other", "test", "archived")
    assert shop.get("tasks/").json["items"] == []
    assert len(shop.get("tasks/?status=archived").json["items"]) == 1


def test_the_list_is_filtered_searched_and_walked(shop: Caller, split: Split) -> None:
    for number in range(5):
        make_task(
            split=split,
            key=f"t{number}",
            content=make_content(message("user", f"Number {number} of Five")),
            status="ready" if number % 2 else "draft",
        )

    def keys(query: str) -> list[str]:
        return [each["key"] for each in shop.get(f"tasks/?{query}").json["items"]]

    assert keys("status=ready") == ["t1", "t3"]
    assert keys("search=five+number+3") == ["t3"]
    assert keys("key=t4") == ["t4"]
    assert keys("key=t9") == []
    assert keys("split=train") == ["t0", "t1", "t2", "t3", "t4"]
    assert shop.get("tasks/?split=none").status == 404
    assert shop.get("tasks/?status=done").problem["place"] == "query.status"
    assert shop.get("tasks/?after=zebra").status == 422
    first = shop.get("tasks/?limit=2").json
    second = shop.get(f"tasks/?limit=3&after={first['next']}").json
    assert [each["key"] for each in first["items"] + second["items"]] == keys("")
    assert second["next"] is None


def test_a_task_of_another_environment_is_not_found(alpha: Caller, task: Task) -> None:
    alpha.post("environments/", {"slug": "other"})
    assert alpha.get(f"environments/other/tasks/{task.pk}/").status == 404


def test_a_tasks_own_grader_stays_with_its_revision(shop: Caller, split: Split) -> None:
    grader = [{"type": "includes", "ground_truth": "depot"}]
    made = shop.post("tasks/", {"split": "train", "content": make_content(), "grader": grader}).json
    assert made["grader"][0]["ground_truth"] == "depot"
    saved = shop.post(
        f"tasks/{made['id']}/revisions/",
        {"base": 1, "content": make_content(message("user", "New"))},
    ).json
    assert saved["grader"] == made["grader"]


def test_a_preview_shows_what_is_sent_and_who_cannot_carry_it(
    shop: Caller, environment: Environment
) -> None:
    content = make_content(*conversation())
    heard = shop.post("previews/", {"content": content, "formats": ["prompt", "openai", "google"]})
    assert heard.status == 200
    payloads = heard.json["payloads"]
    texts = [block.get("text") for block in payloads["prompt"]["value"]]
    assert "Where is my parcel? Order 7302." in texts
    assert payloads["openai"]["value"][0]["role"] == "user"
    picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    odd = {"messages": [message("user"), message("assistant", picture)]}
    refused = shop.post("previews/", {"content": odd, "formats": ["openai"]}).json
    assert refused["unready"][0]["place"] == "messages[0].blocks"
    assert refused["payloads"]["openai"]["value"] is None
    assert refused["payloads"]["openai"]["refused"]["message"]
    assert refused["problems"]["openai"][0]["severity"] == "error"
    wrong = shop.post("previews/", {"content": content, "formats": ["prompt", "xml"]})
    assert wrong.problem["place"] == "formats[1]"
    assert not Task.objects.exists()


def test_a_preview_tells_all_that_a_provider_would_refuse(
    shop: Caller, environment: Environment
) -> None:
    thought = {"type": "reasoning", "text": "Hm."}
    picture = {"type": "image", "data": "AAAA", "mimeType": "image/tiff"}
    content = make_content(message("user", picture), message("assistant", thought, picture, "Yes."))
    formats = ["prompt", "openai", "anthropic", "google"]
    told = shop.post("previews/", {"content": content, "formats": formats}).json["problems"]
    errors = {
        name: [each["place"] for each in told[name] if each["severity"] == "error"]
        for name in formats
    }
    assert errors == {
        "prompt": [],
        "openai": ["messages[1].blocks[1]"],
        "anthropic": ["messages[0].blocks[0]", "messages[1].blocks[1]"],
        "google": ["messages[1].blocks[0]"],
    }
    assert any(
        each["severity"] == "warning" and "without its signature" in each["message"]
        for each in told["anthropic"]
    )


def test_a_preview_holds_against_the_tools_that_go_out_beside_it(
    shop: Caller, environment: Environment
) -> None:
    content = {"messages": [message("user", "Hi")], "tools": [{"name": "two words"}]}
    told = shop.post("previews/", {"content": content, "formats": ["openai"]}).json["problems"]
    assert [(each["place"], each["severity"]) for each in told["openai"]] == [("tools[0]", "error")]


def test_a_preview_counts_the_tokens_of_every_block(shop: Caller, environment: Environment) -> None:
    picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    content = make_content(message("user", "one two three", picture), message("assistant", "four"))
    tokens = shop.post("previews/", {"content": content}).json["tokens"]
    assert tokens["exact"] == (tokens["tokenizer"] != "estimate")
    assert [turn["images"] for turn in tokens["turns"]] == [1, 0]
    assert tokens["tokens"] == sum(
        block["tokens"] for turn in tokens["turns"] for block in turn["blocks"]
    )
    assert tokens["turns"][0]["blocks"][0]["tokens"] >= 3
