"""The operator's back door: people and projects; what actions write is only looked at."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest

from apps.accounts.models import ApiKey, AuditEntry, Membership, Project, User

admin.site.site_header = "Turnwright"
admin.site.site_title = "Turnwright"
admin.site.index_title = "For the operator"
admin.site.register(User, UserAdmin)


class MembershipInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Membership
    autocomplete_fields = ("user",)
    extra = 0


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("slug", "name", "created_at")
    search_fields = ("slug", "name")
    inlines = (MembershipInline,)


class LookedAt(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows that only actions write."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(ApiKey)
class ApiKeyAdmin(LookedAt):
    list_display = ("name", "project", "prefix", "created_at", "last_used_at", "revoked_at")
    list_select_related = ("project",)
    list_filter = ("project",)
    exclude = ("digest",)


@admin.register(AuditEntry)
class AuditEntryAdmin(LookedAt):
    list_display = ("at", "project", "actor", "action", "subject")
    list_select_related = ("project",)
    list_filter = ("project", "action")
    show_full_result_count = False
