"""Tournaments: the schedule, and records that do not depend on other agents or workers."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from arena import run
from arena.errors import GameError
from arena.match.record import Record
from arena.results.leaderboard import Leaderboard
from tests.players import PLAYERS

AGENTS = '''
import random
from arena import Agent, hookimpl


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


class Sharer(Agent):
    """Plays the action that the length of its list says, and makes the list longer."""

    name = "sharer"

    def __init__(self, *, played: list[int] = [1]):
        self.played = played

    def choose(self, game, state, search):
        self.played.append(1)
        legal = game.actions(state)
        return legal[len(self.played) % len(legal)]


@hookimpl
def arena_agents():
    return [Vandal, Late, Sharer]
'''

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


@hookimpl
def arena_games():
    return [Draws]
"""


@pytest.fixture
def plugins(tmp_path: Path) -> list[str]:
    (tmp_path / "my_agents.py").write_text(AGENTS)
    (tmp_path / "my_games.py").write_text(GAMES)
    return [str(PLAYERS), str(tmp_path / "my_agents.py"), str(tmp_path / "my_games.py")]


def by_id(records: tuple[Record, ...]) -> dict[str, dict[str, Any]]:
    """Records without the clock and without labels, which are for show."""
    found = {}
    for record in records:
        plain = record.timeless()
        del plain["labels"]
        found[record.id] = plain
    assert len(found) == len(records)
    return found


def test_rounds_are_played_one_after_another() -> None:
    results = run({"game": "tic-tac-toe", "rounds": 3, "agents": ["random", "greedy", "lookahead"]})
    assert [played.pairing.round for played in results.played] == [0] * 6 + [1] * 6 + [2] * 6


SPEC = {"game": "tic-tac-toe", "rounds": 3, "seed": 4, "agents": ["random", "greedy", {"agent": "lookahead", "depth": 1}]}


def test_records_do_not_depend_on_other_agents() -> None:
    before = by_id(run(SPEC).records)
    reordered = by_id(run({**SPEC, "agents": list(reversed(SPEC["agents"]))}).records)  # type: ignore[call-overload]
    assert reordered == before
    more = by_id(run({**SPEC, "agents": ["alpha-beta", *SPEC["agents"], {"agent": "lookahead", "depth": 3}]}).records)  # type: ignore[misc]
    assert {identity: more[identity] for identity in before} == before


@pytest.mark.parametrize("options", [{}, {"played": [1, 1]}])
def test_mutated_options_are_restored_for_the_next_match(plugins: list[str], options: dict[str, Any]) -> None:
    entry = {"agent": "sharer", **options}
    spec = {"game": "tic-tac-toe", "rounds": 2, "plugins": plugins, "agents": [entry, "random"]}
    before = {record.id: record.actions for record in run(spec).records}
    after = {record.id: record.actions for record in run({**spec, "agents": ["greedy", entry, "random"]}).records}
    assert {identity: after[identity] for identity in before} == before


def test_a_faulty_agent_changes_no_other_match(plugins: list[str]) -> None:
    honest = by_id(run(SPEC).records)
    results = run({**SPEC, "agents": [*SPEC["agents"], "raiser", "vandal"], "plugins": plugins})  # type: ignore[misc]
    everything = by_id(results.records)
    assert {identity: everything[identity] for identity in honest} == honest
    row = next(row for row in Leaderboard.of_results(results)[0].rows if row["agent"] == "raiser")
    assert (row["losses"], row["failures"], row["failures_by_kind"]) == (24, 24, {"exception": 24})
    assert results.void == []


def test_an_agent_that_cannot_be_created_in_a_match_loses(plugins: list[str]) -> None:
    results = run({"game": "tic-tac-toe", "rounds": 1, "agents": ["late", "first"], "plugins": plugins})
    assert {record.termination for record in results.records} == {"exception"}
    assert all("in the constructor" in (record.message or "") for record in results.records)


def test_matches_are_void_if_the_game_gives_no_starting_position(plugins: list[str]) -> None:
    results = run({"games": ["draws", "tic-tac-toe"], "rounds": 1, "agents": ["random", "first"], "plugins": plugins})
    assert len(results.void) == 2
    boards = Leaderboard.of_results(results)
    assert (boards[0].void, boards[0].games, boards[1].games) == (2, 0, 2)
    assert all(row["score"] is None for row in boards[0].rows)


@pytest.mark.parametrize("positions", [None, ["1 1"]])
def test_states_that_cannot_be_hashed_are_refused_before_the_first_match(
    tmp_path: Path, invoke: Any, positions: list[str] | None
) -> None:
    """Searches look states up in tables, so otherwise they would lose for a fault of the game. `validate` says the same."""
    made = "np.array([1, 1])"
    arrays = GAMES.replace("import random", "import numpy as np").replace('raise LookupError("no cards left")', f"return {made}")
    arrays = arrays.replace("return []", "return [1]").replace(
        "def to_move", f"def parse_state(self, text): return {made}\n    def to_move"
    )
    (tmp_path / "arrays.py").write_text(arrays)
    spec = {"game": "draws", "agents": ["random", "first"], "plugins": ["arrays.py", str(PLAYERS)]}
    (tmp_path / "cup.yaml").write_text(json.dumps({**spec, **({} if positions is None else {"positions": positions})}))
    method = "initial" if positions is None else "parse_state"
    said = f"draws: states must be hashable and comparable with ==; got numpy.ndarray from {method} (TypeError: unhashable"
    with pytest.raises(GameError, match=re.escape(said)):
        run(str(tmp_path / "cup.yaml"))
    for command in ("validate", "run"):
        done = invoke(command, "cup.yaml")
        assert done.returncode == 2
        assert said in done.stderr
    assert not list(tmp_path.rglob("*.db"))


def test_observers_see_every_match() -> None:
    seen: list[Any] = []
    results = run(SPEC, observe=seen.append)

    def exact(one: Any) -> Any:
        return (*one[:3], one.record.timeless(), one.record.parameters)

    assert [exact(one) for one in sorted(seen)] == [exact(one) for one in results.played]
