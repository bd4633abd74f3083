"""Every address of the management API. All end in a slash."""

from django.urls import URLPattern, URLResolver, include, path, re_path, register_converter

from apps.api.converters import NumberConverter
from apps.api.views import (
    accounts,
    docs,
    environments,
    exports,
    imports,
    kept_exports,
    previews,
    providers,
    runs,
    solvers,
    tasks,
    traces,
    transfer,
)
from apps.api.views.unknown import unknown_address

register_converter(NumberConverter, "number")

app_name = "api"

in_task: list[URLPattern | URLResolver] = [
    path("", tasks.TaskView.as_view(), name="task"),
    path("revisions/", tasks.RevisionsView.as_view(), name="revisions"),
    path("revisions/<number:number>/", tasks.RevisionView.as_view(), name="revision"),
    path("revisions/<number:number>/restore/", tasks.RestoreView.as_view(), name="restore"),
]

in_run: list[URLPattern | URLResolver] = [
    path("", runs.RunView.as_view(), name="run"),
    path("cancel/", runs.CancelView.as_view(), name="cancel"),
    path("resume/", runs.ResumeView.as_view(), name="resume"),
    path("samples/", runs.SamplesView.as_view(), name="samples"),
    path("samples/<number:position>/", runs.SampleView.as_view(), name="sample"),
]

in_import: list[URLPattern | URLResolver] = [
    path("", imports.ImportStepView.as_view(), name="import_step"),
    path("ledger/", imports.LedgerView.as_view(), name="ledger"),
    path("ledger/<number:row>/", imports.ImportRowView.as_view(), name="import_row"),
    path("accept/", imports.AcceptView.as_view(), name="accept"),
    path("undo/", imports.UndoView.as_view(), name="undo"),
]

in_export: list[URLPattern | URLResolver] = [
    path("", kept_exports.KeptExportView.as_view(), name="kept_export"),
    path("file/", kept_exports.ExportFileView.as_view(), name="export_file"),
    path("losses/", kept_exports.KeptLossesView.as_view(), name="kept_losses"),
]

in_environment: list[URLPattern | URLResolver] = [
    path("", environments.EnvironmentView.as_view(), name="environment"),
    path("tools/", environments.ToolsView.as_view(), name="tools"),
    path("splits/", environments.SplitsView.as_view(), name="splits"),
    path("previews/", previews.PreviewsView.as_view(), name="previews"),
    path("import/", transfer.ImportView.as_view(), name="import"),
    path("export/", exports.ExportView.as_view(), name="export"),
    path("export/losses/", exports.ExportLossesView.as_view(), name="export_losses"),
    path("imports/", imports.ImportsView.as_view(), name="imports"),
    path("imports/<number:import_>/", include(in_import)),
    path("exports/", kept_exports.ExportsView.as_view(), name="exports"),
    path("exports/<number:export>/", include(in_export)),
    path("tasks/", tasks.TasksView.as_view(), name="tasks"),
    path("tasks/<number:task>/", include(in_task)),
]

in_project: list[URLPattern | URLResolver] = [
    path("", accounts.ProjectView.as_view(), name="project"),
    path("members/", accounts.MembersView.as_view(), name="members"),
    path("members/<str:username>/", accounts.MemberView.as_view(), name="member"),
    path("keys/", accounts.ApiKeysView.as_view(), name="keys"),
    path("keys/<number:key>/", accounts.ApiKeyView.as_view(), name="key"),
    path("audit/", accounts.AuditView.as_view(), name="audit"),
    path("endpoints/", providers.EndpointsView.as_view(), name="endpoints"),
    path("endpoints/<str:endpoint>/", providers.EndpointView.as_view(), name="endpoint"),
    path(
        "endpoints/<str:endpoint>/test/",
        providers.EndpointTestView.as_view(),
        name="endpoint_test",
    ),
    path("solvers/", solvers.SolversView.as_view(), name="solvers"),
    path("solvers/<str:solver>/", solvers.SolverView.as_view(), name="solver"),
    path(
        "solvers/<str:solver>/versions/",
        solvers.SolverVersionsView.as_view(),
        name="solver_versions",
    ),
    path("solver-checks/", solvers.SolverChecksView.as_view(), name="solver_checks"),
    path("runs/", runs.RunsView.as_view(), name="runs"),
    path("runs/<number:run>/", include(in_run)),
    path("traces/<number:trace>/", traces.TraceView.as_view(), name="trace"),
    path("environments/", environments.EnvironmentsView.as_view(), name="environments"),
    path("environments/<str:environment>/", include(in_environment)),
]

version_1: list[URLPattern | URLResolver] = [
    path("me/", accounts.MeView.as_view(), name="me"),
    path("projects/", accounts.ProjectsView.as_view(), name="projects"),
    path("projects/<str:project>/", include(in_project)),
]

urlpatterns = [
    path("v1/", include(version_1)),
    path("schema/", docs.SchemaView.as_view(), name="schema"),
    path("docs/", docs.DocsView.as_view(), name="docs"),
    re_path("", unknown_address, name="unknown"),
]
