"""Refusals that only a body sent over HTTP can earn."""

from apps.accounts.errors import Refusal


class TooLarge(Refusal):
    status = 413


class LengthRequired(Refusal):
    status = 411
