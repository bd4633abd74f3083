"""The scripted demo endpoint: an OpenAI-compatible root at ``/demo/v1``."""

from django.urls import path, re_path

from apps.api.views import demo

app_name = "demo"

urlpatterns = [
    path("chat/completions", demo.chat_completions, name="chat_completions"),
    path("models", demo.models, name="models"),
    re_path("", demo.unknown, name="unknown"),
]
