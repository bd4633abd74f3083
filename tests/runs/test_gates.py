import pytest

from apps.accounts.errors import Invalid
from apps.runs.gates import parse_gate

METRICS = [{"key": "accuracy", "value": 0.9}, {"key": "length", "value": None}]
KNOWN = ["accuracy", "length"]


@pytest.mark.parametrize(
    "text", ["accuracy>=0.9", "accuracy <= 0.9", " accuracy == .9 ", "accuracy>0.89", "accuracy<1"]
)
def test_a_gate_that_holds_is_open(text: str) -> None:
    assert parse_gate(text, KNOWN).failure(METRICS) is None


@pytest.mark.parametrize("text", ["accuracy>0.9", "accuracy<0.9", "accuracy==1", "accuracy>=0.91"])
def test_a_gate_that_does_not_hold_says_what_is(text: str) -> None:
    failure = parse_gate(text, KNOWN).failure(METRICS)
    assert failure is not None
    assert "accuracy is 0.9000" in failure


def test_a_metric_without_a_value_is_no_pass() -> None:
    assert "no value" in str(parse_gate("length<100", KNOWN).failure(METRICS))


@pytest.mark.parametrize(
    "text", ["", "accuracy", "accuracy=0.9", ">=0.9", "accuracy>=", "accuracy>=nan", "accuracy>=x"]
)
def test_what_is_no_gate_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_gate(text, KNOWN)
    assert refused.value.place == "gate"


def test_a_gate_on_a_metric_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(Invalid, match="accuracy, length"):
        parse_gate("precision>=0.5", KNOWN)
