"""Alpha-beta with tables or ordering, and type-a-plus, give the same results compiled and in plain Python."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import arena
from arena import Game, Limits
from arena.compiled import slot_of
from arena.counting import Meter, counting_view
from arena.identity import Stream
from arena.search import Search, SharedStart
from arena.search_engines import find_loop
from arena_agents.alpha_beta import AlphaBeta, TypeAPlus
from arena_agents.transposition import GrowingTable
from arena_games.connect_four import ConnectFour
from arena_games.connect_four_heuristics import OpenLines
from arena_games.othello import Othello, corners_mobility
from arena_games.tic_tac_toe import OpenLanes, TicTacToe
from tests.extensions.compiled.conftest import bound, decision

Twice = Callable[..., Any]
MARKS, STONES, SQUARES = (TicTacToe(), OpenLanes), (ConnectFour(), OpenLines), (Othello(size=6), corners_mobility)
PAIRS = {
    "table": (AlphaBeta(table=True), STONES),
    "sized": (AlphaBeta(table="3kB"), STONES),
    "ordered": (AlphaBeta(order="heuristic"), SQUARES),
    "ordered table": (AlphaBeta(table=True, order="heuristic"), MARKS),
    "ordered sized": (AlphaBeta(table="3kB", order="heuristic"), STONES),
    "type-a-plus": (TypeAPlus(), STONES),
    "type-a-plus on other rules": (TypeAPlus(), MARKS),
}
"""The pairs include every engine and every game. Each takes seconds to compile."""


def after(game: Game, actions: int) -> Any:
    """Return a state after random actions."""
    rng = random.Random(actions)
    state = game.initial(rng)
    for _ in range(actions):
        state = game.result(state, rng.choice(game.actions(state)))
    return state


@pytest.mark.parametrize(("agent", "board"), PAIRS.values(), ids=PAIRS)
def test_compiled_and_plain_searches_end_at_the_same_state_for_every_node_limit(
    twice: Twice, agent: Any, board: tuple[Game, Any]
) -> None:
    """The limits start from 1. Tables of 46 rows are full long before the last limit."""
    game, heuristic = board
    state = after(game, 4)
    for nodes in [*range(1, 40), 201, 1_500]:
        assert twice(agent, game, state, heuristic, {"nodes": nodes}).nodes <= nodes


def test_a_full_table_stores_no_new_states(twice: Twice, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search needs more nodes with room for 64 states than with room for all."""
    game, state = ConnectFour(rows=4, columns=4), (0, 0, 0)
    whole = twice(AlphaBeta(table=True, depth=6), game, state, OpenLines)
    monkeypatch.setattr(GrowingTable, "most", 64)
    small = twice(AlphaBeta(table=True, depth=6), game, state, OpenLines)
    assert small.report.value == whole.report.value
    assert small.nodes > whole.nodes


@pytest.mark.parametrize("table", [True, "2kB", "1MB"])
def test_a_decision_that_switches_to_compiled_code_keeps_its_table(compiling: None, table: Any) -> None:
    """The search is compiled from the first iteration on, from the fourth, or never. The nodes and reports are the same."""
    game = ConnectFour()
    evaluation, found = bound(OpenLines, game), set()
    for plain in (0, 3, 99):
        asked: list[int] = []

        def later(search: Any, engine: str, options: Any, plain: int = plain, asked: list[int] = asked) -> Any:
            asked.append(1)
            return find_loop(search, engine, options) if len(asked) > plain else None

        meter = Meter()
        meter.begin(9_000, None)
        view = counting_view(game, meter)
        search = Search(view, evaluation, Limits(nodes=9_000), meter, Stream("seat"), SharedStart(game, Stream("start")), later)
        with pytest.raises(arena.OutOfBudget):
            AlphaBeta(table=table).choose(view, (0, 0, 0), search)
        assert len(asked) > 4
        assert (search.served is not None and search.served.ran) == (plain < 99)
        found.add((meter.nodes, meter.evaluations, search._last))
    assert len(found) == 1


class Doubled(Game):
    """A game in which seats move twice in a row and add numbers. Different sequences have equal sums."""

    name = "doubled"

    def initial(self, rng: random.Random) -> Any:
        return (0, 0)  # the sum and the number of turns

    def to_move(self, state: Any) -> int:
        seat: int = state[1] // 2 % 2
        return seat

    def actions(self, state: Any) -> Sequence[int]:
        return range(1, 4) if state[1] < 9 else ()

    def result(self, state: Any, action: int) -> Any:
        return (state[0] + action, state[1] + 1)

    def returns(self, state: Any) -> Any:
        return (1, -1) if state[0] % 5 < 2 else (0, 0) if state[0] % 5 == 2 else (-1, 1)


@pytest.mark.parametrize(("table", "order"), [(True, "game"), ("128B", "heuristic"), ("1kB", "heuristic")])
def test_a_game_with_two_consecutive_turns_agrees_with_brute_force(twice: Twice, table: Any, order: Any) -> None:
    """The game has neither threats nor a heuristic. Brute force searches all 3^9 sequences."""

    def worth(total: int, turns: int) -> float:
        if turns == 9:
            return (1, 1, 0, -1, -1)[total % 5] * (1 - 9e-6)
        values = [worth(total + number, turns + 1) for number in (1, 2, 3)]
        return max(values) if turns // 2 % 2 == 0 else min(values)

    outcome = twice(AlphaBeta(table=table, order=order), Doubled(), (0, 0))
    assert outcome.report.value == pytest.approx(worth(0, 0), abs=1e-12)


@pytest.mark.parametrize(("rows", "columns", "value"), [(4, 4, 0.0), (5, 4, 0.0), (4, 5, 0.0), (4, 6, -1 + 24e-6)])
def test_small_boards_of_connect_four_are_solved(compiling: None, rows: int, columns: int, value: float) -> None:
    """All are draws except the last, which the second player wins (J. Tromp, 2006) with the last of 24 stones."""
    game = ConnectFour(rows=rows, columns=columns)
    agent = AlphaBeta(table="64MB", order="heuristic")
    outcome, ran = decision(agent, game, (0, 0, 0), bound(OpenLines, game), Limits())
    assert ran
    assert outcome.report.value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_endings_of_connect_four_agree_with_a_search_without_a_table(twice: Twice, seed: int) -> None:
    """There are 30 stones on the board. The table, in plain Python and compiled, is so small that most entries are replaced."""
    game, rng = ConnectFour(), random.Random(seed)
    state = (0, 0, 1)
    while state[2] or state[1].bit_count() != 30:
        state = game.initial(rng) if state[2] else game.result(state, rng.choice(game.actions(state)))
    plain = decision(AlphaBeta(), game, state, bound(OpenLines, game), Limits())[0]
    for order in ("game", "heuristic"):
        table = twice(AlphaBeta(table="2kB", order=order), game, state, OpenLines)
        assert table.report.value == pytest.approx(plain.report.value, abs=1e-12)


def test_a_compiled_match_has_the_same_record_as_a_plain_one(same: Callable[..., arena.Record]) -> None:
    sized = AlphaBeta(table="4kB", order="heuristic")
    record = same(ConnectFour(), [sized, TypeAPlus()], heuristics=OpenLines, limits={"nodes": 1_000, "moves": 10})
    assert len(record.decisions) == 10


def test_the_slot_of_a_state_is_computed_with_64_bits() -> None:
    """ctypes computes modulo 2^64. All 64 slots are used about equally often, by a chi-squared test at 0.001."""
    from ctypes import c_int64, c_uint64

    counts = [0] * 64
    game = ConnectFour()
    for number in range(4_000):
        state = (*after(game, 5)[:2], number)
        mixed = c_uint64(0)
        for word in state:
            mixed = c_uint64((mixed.value ^ c_uint64(word).value) * c_uint64(c_int64(-7046029254386353131).value).value)
            mixed = c_uint64(mixed.value ^ mixed.value >> 32)
        assert slot_of(state, 64) == (mixed.value >> 33) * 64 >> 31
        counts[slot_of(state, 64)] += 1
    assert sum((count - 62.5) ** 2 / 62.5 for count in counts) < 103.4
