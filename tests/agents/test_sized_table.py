"""Test alpha-beta with a table of limited size and with heuristic move order: values, replacement, and sizes in specs."""

import random
from collections.abc import Callable
from typing import Any

import pytest

import arena
from arena import SpecError
from arena.spec import load_spec
from arena_agents.alpha_beta import AlphaBeta, size_of
from arena_agents.transposition import SizedTable, TableEntry
from arena_games.connect_four import ConnectFour
from arena_games.kuhn_poker import KuhnPoker
from arena_games.othello import Othello
from arena_games.tic_tac_toe import TicTacToe

Decide = Callable[..., Any]


@pytest.mark.parametrize("table", [False, "128B", "1kB", "1MB"])
@pytest.mark.parametrize("order", ["game", "heuristic"])
def test_values_agree_with_brute_force_on_tic_tac_toe(table: Any, order: Any, decide: Decide, open_positions: list[Any]) -> None:
    """Early wins and late losses are preferred. A table of only one pair of rows keeps hardly any states, and changes no
    value.
    """
    game = TicTacToe()

    def exact_value(state: Any, ply: int) -> float:
        if game.is_terminal(state):
            return game.returns(state)[game.to_move(state)] * (1 - ply * 1e-6)
        return max(-exact_value(game.result(state, action), ply + 1) for action in game.actions(state))

    few = [state for state in open_positions if sum(map(int.bit_count, state)) > 3]
    for state in few[::120]:
        decided = decide(AlphaBeta(table=table, order=order), game, state)
        assert decided.value == pytest.approx(exact_value(state, 0), abs=1e-12)


def test_a_larger_table_needs_fewer_nodes(decide: Decide) -> None:
    """Connect Four is searched six plies deep. 10 MB have room for 156,250 states, which is more than the search meets."""
    game, empty = ConnectFour(), (0, 0, 0)
    small, large, growing, none = [
        decide(AlphaBeta(depth=6, table=table), game, empty) for table in ("10kB", "10MB", True, False)
    ]
    assert growing.nodes <= large.nodes < small.nodes < none.nodes
    assert {one.value for one in (small, large, growing)} == {none.value}


def test_a_small_board_of_connect_four_is_a_draw(decide: Decide) -> None:
    """J. Tromp (2006) gives 4x4 as a draw."""
    decided = decide(AlphaBeta(table="1MB", order="heuristic"), ConnectFour(rows=4, columns=4), (0, 0, 0))
    assert decided.value == 0


@pytest.mark.parametrize("game", [TicTacToe(), Othello(), KuhnPoker()], ids=lambda game: game.name)
def test_the_first_row_keeps_the_largest_search_and_the_second_the_latest(game: Any) -> None:
    """This is scheme TwoBig1 (D. Breuker, J. Uiterwijk, H. van den Herik, 1994). The states are integers and other objects."""
    table, rng = SizedTable(1, game), random.Random(0)
    state = game.initial(rng)
    states: list[Any] = []
    while len(states) < 3:
        states.append(state)
        state = game.result(state, rng.choice(list(game.actions(state))))
    big, bigger, small = [(state, TableEntry(1, 0.0, 0.0, 0, 0, work)) for state, work in zip(states, (50, 60, 3), strict=True)]

    def held() -> list[bool]:
        return [table.find(state) is not None for state in states]

    table.keep(*big, known=False)
    table.keep(*small, known=False)
    assert held() == [True, False, True]
    table.keep(*bigger, known=False)  # takes the first row and moves its old entry to the second
    assert held() == [True, True, False]
    table.keep(*small, known=False)
    assert held() == [False, True, True]
    table.keep(small[0], small[1]._replace(work=60), known=True)
    assert held() == [False, True, True]


@pytest.mark.parametrize(
    ("written", "size"),
    [(128, 128), ("128", 128), ("1kB", 1_000), ("64MB", 64_000_000), ("64 mb", 64_000_000), ("0.5 MB", 500_000)],
)
def test_sizes_are_converted_to_bytes(written: Any, size: int) -> None:
    assert size_of(written) == size


SIZE = "expected true, false, or a size of at least 128 bytes such as 64MB"


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("64 apples", SIZE), (0, SIZE), (-5, SIZE), ("-1MB", SIZE), ("127B", SIZE), ("", SIZE), (None, SIZE), ([1], SIZE),
        ("MB", SIZE), ("9999999GB", "the memory of this machine"), ("9" * 400 + "GB", SIZE), ("1" + " " * 20 + "MB", SIZE),
    ],
)  # fmt: skip
def test_invalid_sizes_are_refused(written: Any, fault: str) -> None:
    spec = {"game": "tic-tac-toe", "agents": [{"agent": "alpha-beta", "table": written}, "random"]}
    with pytest.raises(SpecError, match=rf"agents\[0\].table: .*{fault}"):
        load_spec(spec)
    with pytest.raises(ValueError, match=fault):
        AlphaBeta(table=written)


def list_identities(*entries: dict[str, Any]) -> list[str]:
    spec = load_spec({"game": "tic-tac-toe", "rounds": 1, "agents": [*entries, "random"]})
    return [seat.identity for seat in spec.boards[0].seats if seat.agent == "alpha-beta"]


def test_new_options_do_not_change_the_ids_of_existing_entries() -> None:
    """Ids of entries and matches predate sizes and orders, and must not change. Equal sizes give equal ids."""
    old = '"limits":{"depth":null,"memory_mb":null,"nodes":null,"seconds":null},"options":{"table":true}}'
    plain, spoken, ordered = list_identities(
        {"agent": "alpha-beta", "table": True, "label": "one"},
        {"agent": "alpha-beta", "table": True, "order": "game", "label": "two"},
        {"agent": "alpha-beta", "table": True, "order": "heuristic", "label": "three"},
    )
    assert plain.endswith(old)
    assert spoken.endswith(old)
    assert '"order":"heuristic"' in ordered
    sizes = list_identities(
        *[{"agent": "alpha-beta", "table": size, "label": str(size)} for size in ("64 MB", 64_000_000, "64000kB")]
    )
    assert all('"table":"64MB"' in one for one in sizes)
    record = arena.play("connect-four", [AlphaBeta(table=True, depth=2), AlphaBeta(depth=2)], limits={"moves": 2})
    assert record.id == "e67194ac455ebcb1973d93242cf2542f"
