"""Numbers in the lines of engines, which may have any digits and any length."""

import pytest

from arena.notation import read_digits
from arena_bridges.dialects import point
from arena_bridges.engines.uci import info, option_fault

pytestmark = pytest.mark.unit
LONG = "9" * 5000
"""More digits than Python converts: 4,300 are allowed."""


@pytest.mark.parametrize("number", [LONG, "²", "①", "-5", "1e3", "", "٣"])
def test_a_depth_or_node_count_that_is_not_a_whole_number_is_left_out(number: str) -> None:
    assert info(f"info depth {number} nodes {number} score cp 0".split()) == {"value": 0.0, "exact": False}
    assert info(["info", "nodes", "12"]) == {"nodes": 12}


@pytest.mark.parametrize("score", [f"cp {LONG}", f"cp {'9' * 400}", f"mate {LONG}", f"cp 0 wdl {'9' * 400} 0 0", "cp ²"])
def test_a_score_that_is_not_a_number_is_left_out(score: str) -> None:
    assert info(f"info nodes 3 score {score}".split()) == {"nodes": 3}


@pytest.mark.parametrize(
    "score",
    [
        *("cp 0 wdl 2000 -500 -500", "cp 0 wdl 1000 1000 1000", "cp 0 wdl 0 0 0", "cp 0 wdl 500 300", "cp 0 wdl 0.5 0.5 0"),
        *(
            "cp 0 wdl -1 1001 0",
            "cp 0 wdl 3 3 992",
            "cp nan",
            "cp inf",
            "cp 1e3",
            "cp",
            "mate",
            "mate x",
            "cp ٣",
            "cp 1_0",
            "",
            "xp 5",
        ),
    ],
)
def test_a_score_that_cannot_be_true_is_left_out(score: str) -> None:
    """The chances to win, draw and lose are thousandths, so their sum is 1000, or 1 more or less after rounding."""
    assert info(f"info nodes 3 score {score}".split()) == {"nodes": 3}


@pytest.mark.parametrize(
    ("score", "value"), [("cp 0 wdl 700 200 100", 0.6), ("cp 9 wdl 0 0 1000", -1.0), ("mate -3", -1.0), ("mate 0", -1.0)]
)
def test_a_score_may_be_at_the_ends_of_its_range(score: str, value: float) -> None:
    assert info(f"info score {score}".split())["value"] == value


@pytest.mark.parametrize("score", ["cp 1 wdl 333 333 333", "cp 1 wdl 334 333 334"])
def test_chances_that_do_not_add_up_because_of_rounding_are_accepted(score: str) -> None:
    assert info(f"info score {score}".split())["value"] == 0.0


def test_a_number_that_a_record_cannot_hold_is_left_out() -> None:
    """The protocol of agents has counts up to 10**15."""
    assert info(f"info depth {10**15 + 1} nodes {10**15} score cp 0".split()) == {"nodes": 10**15, "value": 0.0, "exact": False}


@pytest.mark.parametrize("value", ["²", LONG, "--5", "5-", ""])
def test_an_option_of_an_engine_takes_only_whole_numbers(value: str) -> None:
    told = "type spin default 0 min -10 max 10"
    assert option_fault(told, value) == "a whole number from -10 to 10"
    assert option_fault(told, "-10") is None
    assert option_fault(told, "11") == "a whole number from -10 to 10"


@pytest.mark.parametrize("told", [f"type spin min 0 max {LONG}", "type spin min x max y", "type spin min 9 max 3"])
def test_an_engine_may_give_bounds_of_an_option_that_are_not_numbers(told: str) -> None:
    assert option_fault(told, "5") is None
    assert option_fault(told, "x") == "a whole number"


def test_an_engine_may_give_an_option_without_a_type() -> None:
    assert option_fault("default 5", "x") is None


@pytest.mark.parametrize("text", [f"d{LONG}", "d²", "d0", "d"])
def test_a_vertex_with_a_large_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a vertex such as D4"):
        point(text)


def test_only_ascii_digits_are_read() -> None:
    """Of all characters, `int` reads 760 and more, and `str.isdigit` is true for even more of them."""
    assert [chr(code) for code in range(0x110000) if read_digits(chr(code)) is not None] == list("0123456789")
    assert [read_digits("0" * count + "7") for count in (0, 17, 18)] == [7, 7, None]
