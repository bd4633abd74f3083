from django.apps import AppConfig
from django.core.checks import Tags, register

from apps.config.checks import secrets_are_set


class ConfigConfig(AppConfig):
    name = "apps.config"
    label = "config"

    def ready(self) -> None:
        register(secrets_are_set, Tags.security)
