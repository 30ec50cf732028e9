"""Values of strangers are checked up to the first fault. A fault for each value takes far more memory than the values."""

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from arena.schedule import board_info
from arena.spec.parameters import MANY_FAULTS, explain_faults, read_json, stop_at_fault
from arena.store import run
from arena_bundle.layout import Environments, Manifest, NoBundle, RunFile, read_model

MANY = 20_000
KEYS = {f"key {number}": 1 for number in range(MANY)}


@pytest.mark.parametrize(
    ("adapter", "values"),
    [
        (board_info._adapter(), [{}] * MANY),
        (board_info._adapter(), [{"labels": [1] * MANY, "settings": [1] * MANY}]),
        (run._validators().plugins, KEYS),
        (run._validators().versions, KEYS),
        (TypeAdapter(RunFile), {"runs": [{}] * MANY}),
        (TypeAdapter(Manifest), {"files": KEYS, "left_out": KEYS}),
    ],
)
def test_reading_stops_at_the_first_of_many_wrong_values(adapter: TypeAdapter[Any], values: Any) -> None:
    """The classes inside have fewer than forty fields. Without a stop, there are as many faults as values."""
    with pytest.raises(ValidationError) as caught:
        adapter.validate_json(json.dumps(values), strict=True)
    assert caught.value.error_count() >= MANY
    with pytest.raises(ValidationError) as caught:
        stop_at_fault(adapter).validate_json(json.dumps(values), strict=True)
    assert caught.value.error_count() < 40


def test_unknown_keys_are_only_counted() -> None:
    """Each unknown key is an error, and pydantic describes either all or none of them."""
    with pytest.raises(NoBundle, match=r"^environment.json: it has 20,\d\d\d faults$"):
        read_model(Environments, KEYS, "environment.json")
    assert MANY_FAULTS < MANY


def test_only_the_first_error_in_untrusted_input_is_described_but_all_errors_in_own_files() -> None:
    with pytest.raises(ValueError, match=r"^1: expected an integer, got 'two'$"):
        read_json(TypeAdapter(list[int]), '[1, "two", "three"]')
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(list[int]).validate_python(["one"] * 3)
    assert len(explain_faults(caught.value, ["one"] * 3)) == 3
