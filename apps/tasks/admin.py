"""The operator's view of environments and tasks. They are changed in the studio, by actions."""

from django.contrib import admin

from apps.accounts.admin import LookedAt
from apps.tasks.models import Environment, Export, Import, Revision, Split, Task, Tool


class ToolInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Tool
    fields = ("position", "name", "kind", "is_terminal", "argument", "ends_episode")
    extra = 0


class SplitInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Split
    fields = ("position", "name", "type", "task_count", "ready_count")
    extra = 0


@admin.register(Environment)
class EnvironmentAdmin(LookedAt):
    list_display = ("slug", "project", "name", "is_default", "offers_submit")
    list_select_related = ("project",)
    list_filter = ("project",)
    search_fields = ("slug", "name")
    inlines = (ToolInline, SplitInline)


@admin.register(Task)
class TaskAdmin(LookedAt):
    list_display = ("key", "environment", "split", "status", "turns", "updated_at", "updated_by")
    list_select_related = ("environment", "split")
    list_filter = ("environment", "status")
    search_fields = ("key",)
    show_full_result_count = False


@admin.register(Revision)
class RevisionAdmin(LookedAt):
    list_display = ("task", "number", "author", "message", "created_at")
    list_select_related = ("task",)
    search_fields = ("task__key",)
    show_full_result_count = False


@admin.register(Import)
class ImportAdmin(LookedAt):
    list_display = (
        "id", "environment", "split", "file_name", "state", "created", "updated", "refused",
        "author", "created_at",
    )  # fmt: skip
    list_select_related = ("environment",)
    list_filter = ("state", "environment")
    search_fields = ("file_name", "author")


@admin.register(Export)
class ExportAdmin(LookedAt):
    list_display = (
        "id",
        "environment",
        "format",
        "state",
        "tasks",
        "lossy",
        "author",
        "created_at",
    )
    list_select_related = ("environment",)
    list_filter = ("state", "format", "environment")
    search_fields = ("author",)
