"""A task's history in the studio: the list, what changed, and going back."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.permissions import Actor
from apps.tasks.actions import save_revision
from apps.tasks.models import Task
from apps.tasks.queries import content_of
from tests.cast import PASSWORD, Cast
from tests.factories import make_content, message

TASKS = "/projects/alpha/environments/shop/tasks/"


@pytest.fixture
def client(cast: Cast) -> Client:
    client = Client()
    assert client.login(username="author", password=PASSWORD)
    return client


@pytest.fixture
def edited(task: Task, author: Actor) -> Task:
    """Revisions 2 and 3: one word of the question is changed, then a turn is added."""
    question = message("user", "Where is my parcel? Order 7303.")
    for base, messages in ((1, [question]), (2, [question, message("assistant", "At the depot.")])):
        content = make_content(*messages)
        save_revision(actor=author, task=task, base=base, content=content, message=f"Step {base}")
    return task


def at(task: Task, rest: str = "") -> str:
    return f"{TASKS}{task.pk}/history/{rest}"


def page(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def test_the_history_lists_every_revision_newest_first(client: Client, edited: Task) -> None:
    shown = page(client, at(edited))
    assert shown.index("Step 2") < shown.index("Step 1")
    assert "author, <time" in shown


def test_the_history_shows_what_the_current_revision_changed(client: Client, edited: Task) -> None:
    shown = page(client, at(edited))
    assert "<ins>At the depot.</ins>" in shown
    assert "1 unchanged turn" in shown


def test_a_revision_is_compared_with_its_parent_word_by_word(client: Client, edited: Task) -> None:
    shown = page(client, at(edited, "2/"))
    assert "<del>7302</del>" in shown
    assert "<ins>7303</ins>" in shown
    assert "Changed since revision 1" in shown


def test_a_revision_is_compared_with_the_current_one(client: Client, edited: Task) -> None:
    shown = page(client, at(edited, "1/?against=current"))
    assert "<del>At the depot.</del>" in shown
    assert "<ins>7302</ins>" in shown


def test_any_two_revisions_can_be_compared(client: Client, edited: Task) -> None:
    assert "Changed since revision 1" in page(client, at(edited, "3/?against=1"))


def test_the_first_revision_is_all_new(client: Client, edited: Task) -> None:
    shown = page(client, at(edited, "1/"))
    assert "The first revision" in shown
    assert "<del>" not in shown


def test_a_picture_is_shown_where_it_came_and_where_it_went(
    client: Client, task: Task, author: Actor
) -> None:
    picture = {"type": "image", "data": "UE5H", "mimeType": "image/png"}
    odd = {"type": "image", "data": "T0RE", "mimeType": "image/x-odd"}
    content = make_content(message("user", "Look", picture, odd))
    save_revision(actor=author, task=task, base=1, content=content)
    shown = page(client, at(task))
    assert '<img src="data:image/png;base64,UE5H" alt="Picture, added"' in shown
    assert "image/x-odd, 3 bytes" in shown
    assert "T0RE" not in shown
    assert 'alt="Picture, removed"' in page(client, at(task, "1/?against=current"))


def test_moments_are_written_as_on_every_page(client: Client, edited: Task) -> None:
    shown = page(client, at(edited))
    assert shown.count(">just now</time>") == 4  # three lines and the heading


def test_a_word_that_looks_like_markup_is_shown_as_it_is(
    client: Client, task: Task, author: Actor
) -> None:
    content = make_content(message("user", "<b>bold</b> & <script>"))
    save_revision(actor=author, task=task, base=1, content=content)
    shown = page(client, at(task))
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; &lt;script&gt;" in shown


def test_the_editor_is_given_the_list_alone(client: Client, edited: Task) -> None:
    shown = client.get(at(edited), headers={"HX-Request": "true"}).content.decode()
    assert "Step 2" in shown
    assert "<html" not in shown


def restore(client: Client, task: Task, number: int, base: int) -> Any:
    return client.post(at(task, f"{number}/restore/"), {"base": base}, follow=True)


def test_a_restore_makes_a_new_revision_with_the_old_content(client: Client, edited: Task) -> None:
    response = restore(client, edited, 1, 3)
    assert "Revision 1 is current again, as revision 4." in response.content.decode()
    edited.refresh_from_db()
    assert edited.current is not None
    assert edited.current.number == 4
    assert content_of(edited.current) == content_of(edited.revisions.get(number=1))


def test_a_restore_from_an_old_page_is_refused_and_changes_nothing(
    client: Client, edited: Task
) -> None:
    response = restore(client, edited, 1, 2)
    assert "Not restored." in response.content.decode()
    assert edited.revisions.count() == 3


@pytest.mark.parametrize("base", ["", "x", "-1", "9" * 40])
def test_a_restore_with_a_nonsense_base_is_refused(client: Client, edited: Task, base: str) -> None:
    response = client.post(at(edited, "1/restore/"), {"base": base})
    assert response.status_code == 422
    assert edited.revisions.count() == 3


def test_only_an_author_may_restore(cast: Cast, edited: Task) -> None:
    for name, status in (("viewer", 403), ("outsider", 404)):
        client = Client()
        client.login(username=name, password=PASSWORD)
        response = client.post(at(edited, "1/restore/"), {"base": 3})
        assert response.status_code == status
    viewer = Client()
    viewer.login(username="viewer", password=PASSWORD)
    assert "Restore revision" not in page(viewer, at(edited, "1/"))


@pytest.mark.parametrize("rest", ["99/", "1/?against=99", "1/?against=x", "?before=x"])
def test_a_revision_that_is_not_there_is_said_to_be_missing(
    client: Client, edited: Task, rest: str
) -> None:
    assert client.get(at(edited, rest)).status_code in {404, 422}


def test_a_stranger_sees_no_history(cast: Cast, edited: Task) -> None:
    outsider = Client()
    outsider.login(username="outsider", password=PASSWORD)
    assert outsider.get(at(edited)).status_code == 404
    assert outsider.get(at(edited, "1/")).status_code == 404
