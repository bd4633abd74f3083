"""Solvers: text in, findings beside its lines, versions that never change."""

import pytest

from apps.accounts.permissions import OPERATOR
from apps.runs.actions import save_spec
from apps.runs.queries import get_spec
from apps.studio.spec_places import line_of
from apps.studio.views.solvers import EXAMPLE, checked
from tests.cast import Cast
from tests.runs.stage import CLARIFY
from tests.studio.visitors import HTMX, Visitor, words

pytestmark = pytest.mark.django_db

SOLVERS = "/projects/alpha/solvers/"
NEW = "/projects/alpha/new-solver/"
CHECK = "/projects/alpha/check-solver/"


def test_the_example_can_be_saved_as_it_is(visit: Visitor, cast: Cast) -> None:
    client = visit("author")
    assert "Write one from an example" in words(client.get(SOLVERS))
    shown = client.get(NEW).context["form"].initial["text"]
    response = client.post(NEW, {"text": shown}, follow=True)
    assert response.redirect_chain == [(f"{SOLVERS}first-answer/", 302)]
    assert get_spec(OPERATOR, cast.project, "first-answer").text == EXAMPLE


def test_another_text_makes_the_next_version_and_the_old_one_stays(
    visit: Visitor, cast: Cast
) -> None:
    save_spec(actor=OPERATOR, project=cast.project, text=CLARIFY)
    client = visit("author")
    changed = CLARIFY.replace("max_iterations: 3", "max_iterations: 4")
    response = client.post(f"{SOLVERS}clarify/", {"text": changed}, follow=True)
    assert "clarify v2 is the newest version." in words(response)
    old = client.get(f"{SOLVERS}clarify/?version=1")
    assert "max_iterations: 3" in old.content.decode()
    assert "An earlier version" in words(old)


def test_a_new_solver_does_not_take_the_key_of_another(visit: Visitor, cast: Cast) -> None:
    save_spec(actor=OPERATOR, project=cast.project, text=CLARIFY)
    changed = CLARIFY.replace("max_iterations: 3", "max_iterations: 4")
    response = visit("author").post(NEW, {"text": changed})
    assert response.status_code == 422
    assert "There is a solver clarify already (v1)." in words(response)
    assert f'<a href="{SOLVERS}clarify/">clarify</a>' in response.content.decode()
    assert list(response.context["form"].errors) == ["text"]
    assert get_spec(OPERATOR, cast.project, "clarify").version == 1


def test_the_same_text_makes_no_version(visit: Visitor, cast: Cast) -> None:
    save_spec(actor=OPERATOR, project=cast.project, text=CLARIFY)
    visit("author").post(f"{SOLVERS}clarify/", {"text": CLARIFY})
    assert get_spec(OPERATOR, cast.project, "clarify").version == 1


def test_a_text_with_mistakes_is_kept_on_the_page_with_each_beside_its_line(
    visit: Visitor, cast: Cast
) -> None:
    wrong = EXAMPLE.replace('role: "user"', 'role: "robot"').replace("generate", "generte")
    response = visit("author").post(NEW, {"text": wrong})
    assert response.status_code == 422
    page = response.content.decode()
    assert "Not saved: " in words(response)
    assert "generte" in page
    role = wrong.splitlines().index('        role: "robot"') + 1
    assert f'data-problem-line="{role}"' in page
    assert "No solvers yet" in words(visit("author").get(SOLVERS))


def test_the_key_of_a_solver_does_not_change_under_it(visit: Visitor, cast: Cast) -> None:
    save_spec(actor=OPERATOR, project=cast.project, text=CLARIFY)
    response = visit("author").post(f"{SOLVERS}clarify/", {"text": EXAMPLE})
    assert response.status_code == 422
    assert "The key in the text is &#x27;first-answer&#x27;" in response.content.decode()


@pytest.mark.parametrize(
    "text", ["", "{", "a: [1", "- 1", "key: x", "\t", "a: *b", "!!python/object:os.system x", "\0"]
)
def test_a_check_says_what_is_wrong_with_any_text(visit: Visitor, text: str) -> None:
    response = visit("author").post(CHECK, {"text": text}, headers=HTMX)
    assert response.status_code == 200
    assert "problem" in words(response)


def test_a_check_of_a_good_text_shows_its_lints_and_saves_nothing(visit: Visitor) -> None:
    response = visit("viewer").post(CHECK, {"text": CLARIFY}, headers=HTMX)
    assert "can be run" in words(response)
    assert "No solvers yet" in words(visit("viewer").get(SOLVERS))


def test_lints_are_warnings_and_have_a_line() -> None:
    quiet = EXAMPLE.replace(
        '      - type: "generate"',
        "      - type: loop\n        max_iterations: 0\n        message_builders:\n"
        "          - type: generate",
    )
    found = checked(quiet)
    assert not found.refused
    assert {finding.severity for finding in found.findings} == {"warning"}
    assert any(finding.line for finding in found.findings)


class TestLines:
    TEXT = (
        'key: "x"\ndefinition:\n  solver:\n    message_builders:\n      - type: a\n      - b: 1\n'
    )

    @pytest.mark.parametrize(
        ("place", "line"),
        [
            ("key", 1),
            ("definition.solver", 3),
            ("definition.solver.message_builders[0].type", 5),
            ("definition.solver.message_builders[1].b", 6),
            ("definition.solver.message_builders[1].missing", 6),
            ("definition.solver.message_builders[9]", 4),
            ("nowhere", 1),
            ("line 4, column 2", 4),
            ("", None),
        ],
    )
    def test_a_place_is_found_or_as_much_of_it_as_there_is(
        self, place: str, line: int | None
    ) -> None:
        assert line_of(self.TEXT, place) == line

    def test_a_text_that_is_no_yaml_has_no_places(self) -> None:
        assert line_of("a: [", "a") is None


@pytest.mark.parametrize("version", ["99", "x", "-1", "9" * 40])
def test_a_version_that_is_not_there_is_refused(visit: Visitor, cast: Cast, version: str) -> None:
    save_spec(actor=OPERATOR, project=cast.project, text=CLARIFY)
    response = visit("viewer").get(f"{SOLVERS}clarify/?version={version}")
    assert response.status_code in {404, 422}


def test_a_viewer_reads_and_does_not_save(visit: Visitor, cast: Cast) -> None:
    save_spec(actor=OPERATOR, project=cast.project, text=CLARIFY)
    client = visit("viewer")
    assert "Save as" not in words(client.get(f"{SOLVERS}clarify/"))
    response = client.post(f"{SOLVERS}clarify/", {"text": CLARIFY.replace("3", "5")})
    assert response.status_code == 403
    assert get_spec(OPERATOR, cast.project, "clarify").version == 1
