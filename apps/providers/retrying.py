"""The one place that decides whether a call is made again, and when."""

from apps.dialogue.errors import ModelCallFailed

RETRYABLE = frozenset({"timeout", "connection", "rate_limit", "server_error"})
"""Reasons that may pass by themselves. A context that is too long never does."""

FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
LONGEST_RETRY_AFTER = 600.0


def wait_before_retry(failure: ModelCallFailed, *, attempts: int, max_retries: int) -> float | None:
    """Seconds to wait before the next attempt, or None to give up.

    ``attempts`` counts those made, ``max_retries`` is what the endpoint's owner allowed beyond the
    first. A provider's ``Retry-After`` is honoured as it is; one of more than ten minutes is a no.
    """
    if failure.reason not in RETRYABLE or attempts > max_retries:
        return None
    if failure.retry_after is None:
        return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (attempts - 1))
    return failure.retry_after if failure.retry_after <= LONGEST_RETRY_AFTER else None
