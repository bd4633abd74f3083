"""Every address of the host: the studio, the API, the admin. The protocol has its own door."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

handler400 = "apps.studio.errors.bad_request"
handler403 = "apps.studio.errors.permission_denied"
handler404 = "apps.studio.errors.page_not_found"
handler429 = "apps.studio.errors.too_many_requests"
handler500 = "apps.studio.errors.server_error"

urlpatterns = [
    path("api/", include("apps.api.urls")),
    path("demo/v1/", include("apps.api.demo_urls")),
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.account.urls")),
    path("", include("apps.studio.urls")),
]
