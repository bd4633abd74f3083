"""Every address of the studio."""

from django.urls import URLPattern, path

from apps.studio.views import (
    editing,
    environments,
    exporting,
    history,
    importing,
    models,
    projects,
    runs,
    samples,
    settings,
    solvers,
)

app_name = "studio"

_PROJECT = "projects/<str:project>/"
_ENVIRONMENT = _PROJECT + "environments/<str:environment>/"
_IMPORT = _ENVIRONMENT + "imports/<int:pk>/"
_EXPORT = _ENVIRONMENT + "exports/<int:pk>/"
_RUN = _PROJECT + "runs/<int:number>/"

urlpatterns: list[URLPattern] = [
    path("", projects.home, name="home"),
    path("projects/", projects.projects, name="projects"),
    path("studio/new-project/", projects.project_new, name="project_new"),
    path(_PROJECT, projects.project, name="project"),
    path(_PROJECT + "new-environment/", environments.environment_new, name="environment_new"),
    path(_ENVIRONMENT, environments.environment, name="environment"),
    path(_ENVIRONMENT + "grading/", environments.grading, name="grading"),
    path(_ENVIRONMENT + "connect/", environments.connect, name="connect"),
    path(_ENVIRONMENT + "new-split/", environments.split_new, name="split_new"),
    path(_ENVIRONMENT + "import/", importing.import_tasks, name="import"),
    path(_ENVIRONMENT + "imports/", importing.imports, name="imports"),
    path(_IMPORT, importing.import_page, name="import_page"),
    path(_IMPORT + "progress/", importing.import_progress, name="import_progress"),
    path(_IMPORT + "change/", importing.import_change, name="import_change"),
    path(_IMPORT + "accept/", importing.import_accept, name="import_accept"),
    path(_IMPORT + "discard/", importing.import_discard, name="import_discard"),
    path(_IMPORT + "undo/", importing.import_undo, name="import_undo"),
    path(_ENVIRONMENT + "export/", exporting.export_tasks, name="export"),
    path(_ENVIRONMENT + "export/losses/", exporting.export_losses, name="export_losses"),
    path(_EXPORT, exporting.export_page, name="export_page"),
    path(_EXPORT + "progress/", exporting.export_progress, name="export_progress"),
    path(_EXPORT + "file/", exporting.export_file, name="export_file"),
    path(_EXPORT + "discard/", exporting.export_discard, name="export_discard"),
    path(_ENVIRONMENT + "tasks/new/", editing.new_task, name="task_new"),
    path(_ENVIRONMENT + "tasks/create/", editing.create, name="task_create"),
    path(_ENVIRONMENT + "tasks/preview/", editing.preview, name="task_preview"),
    path(_ENVIRONMENT + "tasks/<int:pk>/", editing.task, name="task"),
    path(_ENVIRONMENT + "tasks/<int:pk>/save/", editing.save, name="task_save"),
    path(_ENVIRONMENT + "tasks/<int:pk>/history/", history.history, name="task_history"),
    path(_ENVIRONMENT + "tasks/<int:pk>/history/<int:number>/", history.revision, name="revision"),
    path(
        _ENVIRONMENT + "tasks/<int:pk>/history/<int:number>/restore/",
        history.restore,
        name="revision_restore",
    ),
    path(_PROJECT + "models/", models.models, name="models"),
    path(_PROJECT + "new-model/", models.model_new, name="model_new"),
    path(_PROJECT + "models/<str:key>/", models.model, name="model"),
    path(_PROJECT + "models/<str:key>/test/", models.model_test, name="model_test"),
    path(_PROJECT + "models/<str:key>/archive/", models.model_archive, name="model_archive"),
    path(_PROJECT + "solvers/", solvers.solvers, name="solvers"),
    path(_PROJECT + "new-solver/", solvers.solver_new, name="solver_new"),
    path(_PROJECT + "check-solver/", solvers.solver_check, name="solver_check"),
    path(_PROJECT + "solvers/<str:key>/", solvers.solver, name="solver"),
    path(_PROJECT + "runs/", runs.runs, name="runs"),
    path(_PROJECT + "runs/new/", runs.run_new, name="run_new"),
    path(_RUN, runs.run, name="run"),
    path(_RUN + "facts/", runs.run_facts, name="run_facts"),
    path(_RUN + "samples/", runs.run_samples, name="run_samples"),
    path(_RUN + "samples/<int:position>/", samples.sample, name="sample"),
    path(_RUN + "cancel/", runs.run_cancel, name="run_cancel"),
    path(_RUN + "resume/", runs.run_resume, name="run_resume"),
    path(_PROJECT + "settings/", settings.settings, name="settings"),
    path(_PROJECT + "settings/members/", settings.member_add, name="member_add"),
    path(
        _PROJECT + "settings/members/<str:username>/",
        settings.member_change,
        name="member_change",
    ),
    path(
        _PROJECT + "settings/members/<str:username>/remove/",
        settings.member_remove,
        name="member_remove",
    ),
    path(_PROJECT + "settings/keys/", settings.key_new, name="key_new"),
    path(_PROJECT + "settings/keys/<str:pk>/revoke/", settings.key_revoke, name="key_revoke"),
]
