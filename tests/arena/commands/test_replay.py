"""The words of `arena replay`."""

import arena
from arena.commands.replay import _ending


def test_no_return_is_minus_nought() -> None:
    """A game that negates the value of a draw gives -0.0, which is 0."""
    (record, *_) = arena.run({"game": "tic-tac-toe", "rounds": 1, "agents": ["minimax", "alpha-beta"]}).records
    assert _ending(record._replace(returns=(-0.0, 0.0))) == "normal; returns: 0.0 0.0"
