"""Tournaments: the schedule, records that do not depend on company or order, faults that do not spread."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from arena import run
from arena.match.record import Record
from arena.results.leaderboard import Leaderboard

AGENTS = """
import random
from arena import Agent, hookimpl


class Raiser(Agent):
    name = "raiser"

    def choose(self, game, state, search):
        raise RuntimeError("boom")


class Vandal(Agent):
    name = "vandal"

    def choose(self, game, state, search):
        random.seed(0)
        return game.actions(state)[0]


class Late(Agent):
    name = "late"
    made = 0

    def __init__(self):
        Late.made += 1
        if Late.made > 1:
            raise ZeroDivisionError("in the constructor")

    def choose(self, game, state, search):
        return game.actions(state)[0]


class First(Agent):
    name = "first"

    def choose(self, game, state, search):
        return game.actions(state)[0]


@hookimpl
def arena_agents():
    return [Raiser, Vandal, Late, First]
"""

GAMES = """
import random
from arena import Game, hookimpl


class Draws(Game):
    name = "draws"

    def initial(self, rng):
        raise LookupError("no cards left")

    def to_move(self, state): return 0
    def actions(self, state): return []
    def result(self, state, action): return state
    def returns(self, state): return (0, 0)


class Three(Game):
    name = "three"
    players = 3

    def initial(self, rng): return (5, 0)
    def to_move(self, state): return state[1]
    def actions(self, state): return [n for n in (1, 2) if n <= state[0]]
    def result(self, state, action): return (state[0] - action, (state[1] + 1) % 3)
    def returns(self, state): return [1.0 if seat == (state[1] - 1) % 3 else -0.5 for seat in range(3)]


@hookimpl
def arena_games():
    return [Draws, Three]
"""


@pytest.fixture
def plugins(tmp_path: Path) -> list[str]:
    (tmp_path / "my_agents.py").write_text(AGENTS)
    (tmp_path / "my_games.py").write_text(GAMES)
    return [str(tmp_path / "my_agents.py"), str(tmp_path / "my_games.py")]


def by_id(records: tuple[Record, ...]) -> dict[str, dict[str, Any]]:
    """Records without the clock and without labels, which are for show."""
    found = {}
    for record in records:
        plain = record.timeless()
        del plain["labels"]
        found[record.id] = plain
    assert len(found) == len(records)
    return found


def test_every_pairing_meets_every_position_from_both_seats() -> None:
    """Three agents and four rounds: 3 pairs times 2 seat orders times 4, each once."""
    results = run({"game": "tic-tac-toe", "rounds": 4, "agents": ["random", "greedy", "lookahead"]})
    met = Counter(record.labels for record in results.records)
    assert len(met) == 6
    assert set(met.values()) == {4}


def test_rounds_are_interleaved() -> None:
    """All pairings meet in round 0 before any meets in round 1."""
    results = run({"game": "tic-tac-toe", "rounds": 3, "agents": ["random", "greedy", "lookahead"]})
    assert [played.pairing.round for played in results.played] == [0] * 6 + [1] * 6 + [2] * 6


def test_a_game_for_three_is_played_from_all_orders_of_seats(plugins: list[str]) -> None:
    """Four agents: 4 groups of three, 6 orders each."""
    results = run({"game": "three", "rounds": 1, "agents": ["random", "greedy", "lookahead", "first"], "plugins": plugins})
    assert len({record.labels for record in results.records}) == 24
    board = Leaderboard.of_results(results)[0]
    assert sum(row["wins"] for row in board.rows) == 24
    assert all(row["games"] == 18 for row in board.rows)


SPEC = {"game": "tic-tac-toe", "rounds": 3, "seed": 4, "agents": ["random", "greedy", {"agent": "lookahead", "depth": 1}]}


def test_records_do_not_depend_on_the_order_or_the_number_of_agents() -> None:
    """Reordered, or with two more agents, every match that was there before is the same to the last bit."""
    before = by_id(run(SPEC).records)
    reordered = by_id(run({**SPEC, "agents": list(reversed(SPEC["agents"]))}).records)  # type: ignore[call-overload]
    assert reordered == before
    more = by_id(run({**SPEC, "agents": ["alpha-beta", *SPEC["agents"], {"agent": "lookahead", "depth": 3}]}).records)  # type: ignore[misc]
    assert {identity: more[identity] for identity in before} == before


@pytest.mark.process
def test_records_do_not_depend_on_the_number_of_workers() -> None:
    """One process and two: equal records in equal order."""
    one, two = run(SPEC), run(SPEC, workers=2)
    assert [record.timeless() for record in two.records] == [record.timeless() for record in one.records]


def test_a_faulty_agent_loses_its_matches_and_nobody_elses_change(plugins: list[str]) -> None:
    """The run goes on; the honest agents' matches are what they were without it."""
    honest = by_id(run(SPEC).records)
    results = run({**SPEC, "agents": [*SPEC["agents"], "raiser", "vandal"], "plugins": plugins})  # type: ignore[misc]
    everything = by_id(results.records)
    assert {identity: everything[identity] for identity in honest} == honest
    row = next(row for row in Leaderboard.of_results(results)[0].rows if row["agent"] == "raiser")
    assert (row["losses"], row["failures"], row["failures_by_kind"]) == (24, 24, {"exception": 24})
    assert results.void == []


def test_an_agent_that_cannot_be_made_twice_loses(plugins: list[str]) -> None:
    """Its constructor worked when the spec was checked and fails in the match: that is its fault, not the spec's."""
    results = run({"game": "tic-tac-toe", "rounds": 1, "agents": ["late", "first"], "plugins": plugins[:1]})
    assert {record.termination for record in results.records} == {"exception"}
    assert all("in the constructor" in (record.message or "") for record in results.records)


def test_a_game_that_cannot_draw_a_position_makes_its_matches_void(plugins: list[str]) -> None:
    """They are counted apart and scored for nobody."""
    results = run({"games": ["draws", "tic-tac-toe"], "rounds": 1, "agents": ["random", "first"], "plugins": plugins})
    assert len(results.void) == 2
    boards = Leaderboard.of_results(results)
    assert (boards[0].void, boards[0].games, boards[1].games) == (2, 0, 2)
    assert all(row["score"] is None for row in boards[0].rows)


def test_observers_see_every_match() -> None:
    """Each match is passed on once, with its parameters. The store rounds its times to nanoseconds."""
    seen: list[Any] = []
    results = run(SPEC, observe=seen.append)

    def exact(one: Any) -> Any:
        return (*one[:3], one.record.timeless(), one.record.parameters)

    assert [exact(one) for one in sorted(seen)] == [exact(one) for one in results.played]
