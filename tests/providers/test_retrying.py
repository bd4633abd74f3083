import pytest

from apps.dialogue.errors import ModelCallFailed
from apps.providers.retrying import LONGEST_WAIT, wait_before_retry


@pytest.mark.parametrize("reason", ["timeout", "connection", "rate_limit", "server_error"])
def test_what_may_pass_by_itself_is_tried_again_as_often_as_allowed(reason: str) -> None:
    failure = ModelCallFailed(reason, "later, please")
    assert wait_before_retry(failure, attempts=1, max_retries=1) is not None
    assert wait_before_retry(failure, attempts=2, max_retries=1) is None


@pytest.mark.parametrize(
    "reason", ["context_window", "authentication", "bad_request", "bad_response", "cancelled"]
)
def test_what_stays_wrong_is_never_tried_again(reason: str) -> None:
    failure = ModelCallFailed(reason, "no")
    assert wait_before_retry(failure, attempts=1, max_retries=10) is None


def test_nothing_is_resent_unless_its_owner_said_so() -> None:
    failure = ModelCallFailed("timeout", "no answer")
    assert wait_before_retry(failure, attempts=1, max_retries=0) is None


def test_the_wait_a_provider_asks_for_is_honoured() -> None:
    failure = ModelCallFailed("rate_limit", "slow down", retry_after=89)
    assert wait_before_retry(failure, attempts=1, max_retries=3) == 89


def test_a_provider_that_wants_more_than_ten_minutes_is_given_up() -> None:
    failure = ModelCallFailed("rate_limit", "come back tomorrow", retry_after=86_400)
    assert wait_before_retry(failure, attempts=1, max_retries=3) is None


def test_without_such_a_wish_waits_grow_to_a_limit() -> None:
    failure = ModelCallFailed("server_error", "oops")
    waits = [wait_before_retry(failure, attempts=n, max_retries=20) for n in range(1, 12)]
    assert waits[:3] == [0.5, 1.0, 2.0]
    assert waits[-1] == LONGEST_WAIT
