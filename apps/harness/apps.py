from django.apps import AppConfig


class HarnessConfig(AppConfig):
    name = "apps.harness"
    label = "harness"
