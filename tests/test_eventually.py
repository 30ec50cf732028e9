"""Tests of the one way to wait for other processes."""

from typing import Any

import pytest

from tests import eventually as waiting
from tests.eventually import eventually


def test_the_first_true_value_is_returned() -> None:
    values = iter(["", None, 0, "found", "later"])
    assert eventually(lambda: next(values), pause=0) == "found"


@pytest.mark.parametrize(("told", "message"), [(None, r"the last value was \[\]"), (lambda: "the log", "at the end:\nthe log")])
def test_the_message_contains_the_last_value(told: Any, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A given text replaces the last value."""
    monkeypatch.setattr(waiting, "DEADLINE_SECONDS", 0.0)
    with pytest.raises(pytest.fail.Exception, match=message):
        eventually(list, told, pause=0)
