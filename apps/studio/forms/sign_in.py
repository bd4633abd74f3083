"""allauth's sign-in form in our words."""

from typing import Any

from allauth.account.forms import LoginForm


class SignInForm(LoginForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)
        self.fields["login"].label = "Name or e-mail address"
        self.fields["login"].widget.attrs |= {
            "autocapitalize": "none",
            "autofocus": True,
            "spellcheck": "false",
        }
        # No mail is sent by this server, so nothing leads to a page that would promise one.
        self.fields["password"].help_text = ""
        if "remember" in self.fields:
            self.fields["remember"].label = "Stay signed in on this computer"
