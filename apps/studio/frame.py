"""What every page's frame needs: the rail, the switcher, the theme, the person."""

from functools import cached_property
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from apps.accounts.permissions import Actor, Right, may
from apps.accounts.queries import visible_projects
from apps.runs.queries import runs
from apps.tasks.queries import environments

THEMES = frozenset({"light", "dark"})

Destination = dict[str, str]


def actor_of(request: HttpRequest) -> Actor:
    """The signed-in person who asks; a stranger asks as nobody and sees nothing."""
    return Actor(user=request.user if request.user.is_authenticated else None)


def is_partial(request: HttpRequest) -> bool:
    """Whether htmx asks, which wants a part and not a page (its history cache wants the page)."""
    asked = request.headers.get("HX-Request") == "true"
    return asked and request.headers.get("HX-History-Restore-Request") != "true"


class Frame:
    """Everything around a page's own content, asked for only when a template draws it."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        self._match = request.resolver_match

    @cached_property
    def theme(self) -> str:
        """``light``, ``dark``, or nothing: as the person's system has it."""
        chosen = self._request.COOKIES.get("theme", "")
        return chosen if chosen in THEMES else ""

    @cached_property
    def rail(self) -> str:
        """``narrow`` if the person folded the rail away, else nothing."""
        return "narrow" if self._request.COOKIES.get("rail") == "narrow" else ""

    @cached_property
    def actor(self) -> Actor:
        return actor_of(self._request)

    @cached_property
    def projects(self) -> list[Any]:
        return list(visible_projects(self.actor))

    @cached_property
    def project(self) -> Any:
        """The project this address is in; None outside of one, and for a stranger to it."""
        slug = self._match.kwargs.get("project") if self._match else None
        return next((project for project in self.projects if project.slug == slug), None)

    @cached_property
    def section(self) -> str:
        """Which entry of the rail is the current one."""
        name = self._match.url_name if self._match else None
        return SECTION_OF.get(name or "", "environments")

    @cached_property
    def may_author(self) -> bool:
        return self.project is not None and may(self.actor, self.project, Right.AUTHOR)

    @cached_property
    def may_administer(self) -> bool:
        return self.project is not None and may(self.actor, self.project, Right.ADMINISTER)

    @cached_property
    def destinations(self) -> list[Destination]:
        """The places the palette leads to: what is in this project, then the projects."""
        found: list[Destination] = []
        if self.project is not None:
            for name, words in PAGES_OF_PROJECT:
                address = reverse(f"studio:{name}", args=[self.project.slug])
                found.append({"words": words, "where": self.project.name, "address": address})
            found += self._inside(self.project)
        for project in self.projects:
            address = reverse("studio:project", args=[project.slug])
            found.append({"words": project.name, "where": "Project", "address": address})
        found.append(
            {"words": "All projects", "where": "", "address": reverse("studio:projects")},
        )
        return found

    def _inside(self, project: Any) -> list[Destination]:
        """Its environments and its newest runs."""
        return [
            *(
                {
                    "words": row.name,
                    "where": f"Environment {row.slug}",
                    "address": reverse("studio:environment", args=[project.slug, row.slug]),
                }
                for row in environments(self.actor, project)[:ENVIRONMENTS_LISTED]
            ),
            *(
                {
                    "words": f"Run {row.number}" + (f": {row.name}" if row.name else ""),
                    "where": f"{row.environment.slug}, {row.evaluated.key}",
                    "address": reverse("studio:run", args=[project.slug, row.number]),
                }
                for row in runs(self.actor, project)[:RUNS_LISTED]
            ),
        ]


ENVIRONMENTS_LISTED = 50
RUNS_LISTED = 10

PAGES_OF_PROJECT = (
    ("project", "Environments"),
    ("runs", "Runs"),
    ("solvers", "Solvers"),
    ("models", "Models"),
    ("settings", "Settings"),
)

SECTIONS = {
    "runs": ("runs", "run", "run_new", "run_samples", "sample"),
    "solvers": ("solvers", "solver", "solver_new"),
    "models": ("models", "model", "model_new"),
    "settings": ("settings", "member_add", "member_remove", "key_new", "key_revoke"),
}
"""The addresses below each entry of the rail; what is in none of them belongs to environments."""

SECTION_OF = {name: section for section, names in SECTIONS.items() for name in names}


def frame(request: HttpRequest) -> dict[str, Any]:
    """Template context of the frame around each page."""
    return {"frame": Frame(request)}
