"""Every address of the host: the studio, the API, the admin. The protocol has its own door."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("api/", include("apps.api.urls")),
    path("demo/v1/", include("apps.api.demo_urls")),
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.account.urls")),
    path("", include("apps.studio.urls")),
]
