from django.apps import AppConfig


class TracesConfig(AppConfig):
    name = "apps.traces"
    label = "traces"
