"""Model endpoints: where a model is reached, and with which secret and limits."""

from typing import ClassVar

from django.core.validators import MinValueValidator
from django.db import models
from django.utils import timezone


class Api(models.TextChoices):
    CHAT_COMPLETIONS = "chat_completions", "Chat Completions"
    RESPONSES = "responses", "Responses"


class ModelEndpoint(models.Model):
    """One model at one address, as a project calls it.

    ``base_url`` is an OpenAI-compatible root (``https://host/v1``) or the word ``demo`` for the
    scripted endpoint this server carries. ``secret`` holds Fernet tokens and is never shown.
    Prices are in money per million tokens.
    """

    project = models.ForeignKey("accounts.Project", models.CASCADE, related_name="endpoints")
    key = models.CharField(max_length=64)
    display_name = models.CharField(max_length=200, blank=True)
    base_url = models.CharField(max_length=500)
    model = models.CharField(max_length=200)
    api = models.CharField(max_length=32, choices=Api.choices, default=Api.CHAT_COMPLETIONS)
    secret = models.TextField(blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    timeout_seconds = models.FloatField(default=60, validators=[MinValueValidator(0.1)])
    max_retries = models.PositiveSmallIntegerField(default=0)
    max_concurrent_requests = models.PositiveIntegerField(null=True, blank=True)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    tokens_per_minute = models.PositiveIntegerField(null=True, blank=True)
    price_input = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    price_cached_input = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    price_output = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "key"], name="endpoint_key_once"),
            models.CheckConstraint(
                condition=models.Q(api__in=Api.values), name="endpoint_api_is_known"
            ),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def has_secret(self) -> bool:
        return bool(self.secret)
