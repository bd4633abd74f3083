"""Whom we call: model endpoints, their secrets, the only imports of the OpenAI SDK."""
