"""Who may sign up: nobody; people are invited by the operator or an admin."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class StudioAccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """allauth with this house's manners: closed to strangers, plain about failures."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": "That name and password do not belong together.",
        "email_password_mismatch": "That address and password do not belong together.",
        "too_many_login_attempts": "Too many failed attempts. Wait five minutes, then try again.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False
