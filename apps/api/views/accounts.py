"""Who asks, projects, members, keys, the audit log."""

from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import actions, queries
from apps.accounts.permissions import Right, may, rights_in
from apps.api.authentication import actor_of
from apps.api.bodies import accounts as bodies
from apps.api.pagination import Order, PageQuery, cut
from apps.api.parsing import NoQuery, read_body, read_query
from apps.api.resource import Resource
from apps.api.schema import operation

NEWEST_FIRST = Order("pk", descending=True)


class MeView(Resource):
    @operation("read_me", "Who this request comes from", tag="me", answer=bodies.Me)
    def get(self, request: Request) -> Response:
        read_query(request, NoQuery)
        actor = actor_of(request)
        key = actor.api_key
        return Response(
            bodies.Me(
                kind="person" if key is None else "key",
                name=str(actor) if key is None else key.name,
                project=None if key is None else key.project.slug,
                scopes=[] if key is None else key.scopes,
            )
        )


class ProjectsView(Resource):
    @operation(
        "list_projects",
        "The projects you may read",
        tag="projects",
        query=PageQuery,
        answer=bodies.ProjectPage,
    )
    def get(self, request: Request) -> Response:
        actor = actor_of(request)
        page = cut(
            queries.visible_projects(actor),
            read_query(request, PageQuery),
            Order("name", str),
            Order("pk"),
        )
        readable = [row for row in page.rows if may(actor, row, Right.VIEW)]
        return Response(
            bodies.ProjectPage(
                items=[bodies.Project.model_validate(row) for row in readable], next=page.next
            )
        )

    @operation(
        "create_project",
        "Make a project; you become its admin",
        tag="projects",
        body=bodies.NewProject,
        answer=bodies.Project,
        status=201,
    )
    def post(self, request: Request) -> Response:
        body = read_body(request, bodies.NewProject)
        row = actions.create_project(actor=actor_of(request), slug=body.slug, name=body.name)
        return Response(bodies.Project.model_validate(row), status=201)


class ProjectView(Resource):
    @operation("read_project", "One project", tag="projects", answer=bodies.ProjectDetail)
    def get(self, request: Request, project: str) -> Response:
        read_query(request, NoQuery)
        actor = actor_of(request)
        row = queries.get_project(actor, project)
        granted = rights_in(actor, row)
        return Response(
            bodies.ProjectDetail(
                slug=row.slug,
                name=row.name,
                created_at=row.created_at,
                rights=[right.name.lower() for right in Right if right in granted],
            )
        )


class MembersView(Resource):
    @operation(
        "list_members",
        "Who works in the project",
        tag="members",
        query=PageQuery,
        answer=bodies.MemberPage,
    )
    def get(self, request: Request, project: str) -> Response:
        actor = actor_of(request)
        rows = queries.members(actor, queries.get_project(actor, project))
        page = cut(rows, read_query(request, PageQuery), Order("user__username", str))
        items = [
            bodies.Member.model_validate(
                {
                    "username": row.user.username,
                    "role": row.role,
                    "created_at": row.created_at,
                }
            )
            for row in page.rows
        ]
        return Response(bodies.MemberPage(items=items, next=page.next))


class MemberView(Resource):
    @operation(
        "set_member",
        "Add a person, or change their role",
        tag="members",
        body=bodies.MemberRole,
        answer=bodies.Member,
    )
    def put(self, request: Request, project: str, username: str) -> Response:
        actor = actor_of(request)
        row = actions.set_member(
            actor=actor,
            project=queries.get_project(actor, project, Right.ADMINISTER),
            username=username,
            role=read_body(request, bodies.MemberRole).role,
        )
        return Response(
            bodies.Member.model_validate(
                {"username": username, "role": row.role, "created_at": row.created_at}
            )
        )

    @operation("remove_member", "Take a person out of the project", tag="members", status=204)
    def delete(self, request: Request, project: str, username: str) -> Response:
        actor = actor_of(request)
        actions.remove_member(
            actor=actor,
            project=queries.get_project(actor, project, Right.ADMINISTER),
            username=username,
        )
        return Response(status=204)


class ApiKeysView(Resource):
    @operation(
        "list_api_keys",
        "The project's keys, newest first, without their text",
        tag="keys",
        query=PageQuery,
        answer=bodies.ApiKeyPage,
    )
    def get(self, request: Request, project: str) -> Response:
        actor = actor_of(request)
        rows = queries.api_keys(actor, queries.get_project(actor, project))
        page = cut(rows, read_query(request, PageQuery), NEWEST_FIRST)
        return Response(
            bodies.ApiKeyPage(
                items=[bodies.ApiKey.model_validate(row) for row in page.rows], next=page.next
            )
        )

    @operation(
        "create_api_key",
        "Make a key; its text is in this answer and nowhere else",
        tag="keys",
        body=bodies.NewApiKey,
        answer=bodies.MadeApiKey,
        status=201,
    )
    def post(self, request: Request, project: str) -> Response:
        actor = actor_of(request)
        owner = queries.get_project(actor, project, Right.ADMINISTER)
        body = read_body(request, bodies.NewApiKey)
        made = actions.create_api_key(
            actor=actor,
            project=owner,
            name=body.name,
            scopes=body.scopes,
            expires_at=body.expires_at,
        )
        shown = bodies.ApiKey.model_validate(made.row).model_dump()
        return Response(bodies.MadeApiKey(**shown, key=made.secret), status=201)


class ApiKeyView(Resource):
    @operation("revoke_api_key", "End a key at once", tag="keys", status=204)
    def delete(self, request: Request, project: str, key: int) -> Response:
        actor = actor_of(request)
        row = queries.get_api_key(actor, queries.get_project(actor, project, Right.ADMINISTER), key)
        actions.revoke_api_key(actor=actor, key=row)
        return Response(status=204)


class AuditView(Resource):
    @operation(
        "list_audit_entries",
        "Who changed what, newest first",
        tag="audit",
        query=PageQuery,
        answer=bodies.AuditPage,
    )
    def get(self, request: Request, project: str) -> Response:
        actor = actor_of(request)
        rows = queries.audit_entries(actor, queries.get_project(actor, project))
        page = cut(rows, read_query(request, PageQuery), NEWEST_FIRST)
        return Response(
            bodies.AuditPage(
                items=[bodies.AuditEntry.model_validate(row) for row in page.rows],
                next=page.next,
            )
        )
