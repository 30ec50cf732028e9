"""The legal action that a text means."""

from collections.abc import Sequence
from typing import Any

import pytest

from arena import Game
from arena.match.replay import Differs, legal_action


class Squares(Game):
    """Actions are tuples. The game reads `b2` and writes `(b, 2)`."""

    name = "squares"

    def initial(self, rng: Any) -> Any:
        return None

    def to_move(self, state: Any) -> int:
        return 0

    def result(self, state: Any, action: Any) -> Any:
        return state

    def returns(self, state: Any) -> tuple[float, ...]:
        return (0.0, 0.0)

    def actions(self, state: Any) -> Sequence[Any]:
        return [("a", 1), ("b", 2)]

    def parse_action(self, state: Any, text: str) -> Any:
        if len(text) != 2:
            raise ValueError("expected a letter and a digit" if text else "")
        return (text[0], int(text[1]))

    def format_action(self, state: Any, action: Any) -> str:
        return f"({action[0]}, {action[1]})"


@pytest.mark.parametrize("text", ["b2", "(b, 2)"])
def test_an_action_may_be_given_in_either_notation(text: str) -> None:
    assert legal_action(Squares(), None, text) == ("b", 2)


def test_a_parsed_action_is_replaced_by_the_equal_object_in_the_legal_actions() -> None:
    legal = [(1000, 1000)]

    class Own(Squares):
        def actions(self, state: Any) -> Sequence[Any]:
            return legal

        def parse_action(self, state: Any, text: str) -> Any:
            return (int(text), int(text))

    assert legal_action(Own(), None, "1000") is legal[0]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("c3", None),
        ("nonsense", "expected a letter and a digit"),
        ("", "ValueError"),
        ("(c, 3)", "expected a letter and a digit"),
    ],
)
def test_an_action_that_cannot_be_parsed_is_illegal_and_has_the_parsers_message(text: str, complaint: str | None) -> None:
    with pytest.raises(Differs) as raised:
        legal_action(Squares(), None, text)
    assert str(raised.value) == f"{text!r} is not legal"
    found = raised.value.complaint
    assert (found is None) == (complaint is None)
    assert complaint is None or (found is not None and found.startswith(complaint))


def test_other_errors_of_the_game_are_propagated() -> None:
    class Broken(Squares):
        def parse_action(self, state: Any, text: str) -> Any:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        legal_action(Broken(), None, "b2")
