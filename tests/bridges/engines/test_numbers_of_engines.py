"""Numbers in the lines of engines, which may have any digits and any length."""

import pytest

from arena.notation import read_digits
from arena_bridges.dialects import point
from arena_bridges.engines.uci import info, option_fault

pytestmark = pytest.mark.unit
LONG = "9" * 5000
"""More digits than Python converts: 4,300 are allowed."""


@pytest.mark.parametrize("number", [LONG, "²", "①", "-5", "1e3", "", "٣"])
def test_a_number_that_is_no_count_is_left_out(number: str) -> None:
    assert info(f"info depth {number} nodes {number} score cp 0".split()) == {"value": 0.0, "exact": False}
    assert info(["info", "nodes", "12"]) == {"nodes": 12}


@pytest.mark.parametrize("score", [f"cp {LONG}", f"cp {'9' * 400}", f"mate {LONG}", f"cp 0 wdl {'9' * 400} 0 0", "cp ²"])
def test_a_score_that_is_no_number_is_left_out(score: str) -> None:
    assert info(f"info nodes 3 score {score}".split()) == {"nodes": 3}


@pytest.mark.parametrize("value", ["²", LONG, "--5", "5-", ""])
def test_an_option_of_an_engine_takes_only_whole_numbers(value: str) -> None:
    told = "type spin default 0 min -10 max 10"
    assert option_fault(told, value) == "a whole number from -10 to 10"
    assert option_fault(told, "-10") is None
    assert option_fault(told, "11") == "a whole number from -10 to 10"


@pytest.mark.parametrize("told", [f"type spin min 0 max {LONG}", "type spin min x max y"])
def test_an_engine_may_state_bounds_that_are_no_numbers(told: str) -> None:
    assert option_fault(told, "5") is None
    assert option_fault(told, "x") == "a whole number"


def test_an_engine_may_state_no_type_of_an_option() -> None:
    assert option_fault("default 5", "x") is None


@pytest.mark.parametrize("text", [f"d{LONG}", "d²", "d0", "d"])
def test_a_vertex_has_a_small_number(text: str) -> None:
    with pytest.raises(ValueError, match="expected a vertex such as D4"):
        point(text)


def test_only_ascii_digits_are_read() -> None:
    """Of all characters, `int` reads 760 and more, and `str.isdigit` is true for even more of them."""
    assert [chr(code) for code in range(0x110000) if read_digits(chr(code)) is not None] == list("0123456789")
    assert [read_digits("0" * count + "7") for count in (0, 17, 18)] == [7, 7, None]
