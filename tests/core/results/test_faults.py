"""A fault loses the match, also in games in which no return is smaller than the returns of the other seats."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.cli import cli
from arena.format import Outcomes, Pairing, put_last
from arena.results.leaderboard import Leaderboard
from arena.results.pairs import PairedGames
from arena.results.stored_tallies import tallies_of
from arena.spec.resolve import load_spec
from arena.stats.ratings import rate
from arena.store import Store
from arena_web.match_filter import PLACED, MatchFilter
from tests.core.formats import league

GAMES = """
from arena import Agent, Game, hookimpl

class Harvest(Game):
    '''Each seat takes one or two, four times; no return is below 0, and nobody has a standing before the end.'''
    name, zero_sum, min_return, max_return = "harvest", False, 0, 8
    def __init__(self, *, seats: int = 2) -> None:
        self.players = seats
    def initial(self, rng):
        return ()
    def to_move(self, state):
        return len(state) % self.players
    def actions(self, state):
        return (1, 2) if len(state) < 4 * self.players else ()
    def result(self, state, action):
        return (*state, action)
    def returns(self, state):
        return tuple(sum(state[seat::self.players]) for seat in range(self.players))

class Never(Agent):
    '''Raises always.'''
    name = "never"
    def choose(self, game, state, search):
        raise ValueError("no")

class Modest(Agent):
    '''Takes one.'''
    name = "modest"
    def choose(self, game, state, search):
        return 1

class Greed(Agent):
    '''Takes two.'''
    name = "greed"
    def choose(self, game, state, search):
        return 2

@hookimpl
def arena_games():
    return [Harvest]

@hookimpl
def arena_agents():
    return [Never, Modest, Greed]
"""
LABELS = ("never", "modest", "greed")


@pytest.fixture
def spec(tmp_path: Path) -> dict[str, Any]:
    """Four rounds of a game in which a fault and a match without a harvest have the same returns, 0."""
    (tmp_path / "harvest.py").write_text(GAMES)
    plugins = [str(tmp_path / "harvest.py"), str(league.__file__)]
    return {"game": "harvest", "rounds": 4, "agents": list(LABELS), "plugins": plugins}


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command, and return its output."""

    def say(*words: str) -> str:
        capsys.readouterr()
        cli.main(list(words), standalone_mode=False)
        return capsys.readouterr().out

    return say


def stored_board(path: Path) -> Leaderboard:
    """The board of a store, which SQL has counted."""
    with Store.open(path) as store:
        return Leaderboard.of_tallies(tallies_of(store, store.last().boards), finished=True, store=str(path))[0]


def results(board: Leaderboard) -> dict[str, tuple[int, int, int, float]]:
    return {row["agent"]: (row["wins"], row["draws"], row["losses"], row["score"]) for row in board.rows}


@pytest.mark.parametrize("rank", ["wins", "returns"])
def test_a_fault_is_a_loss_on_boards(spec: dict[str, Any], tmp_path: Path, rank: str) -> None:
    """Each of three entries plays 8 games against each other entry. `never` loses all 16."""
    expected = {"greed": (16, 0, 0, 1.0), "modest": (8, 0, 8, 0.5), "never": (0, 0, 16, 0.0)}
    board = Leaderboard.of_results(arena.run({**spec, "rank": rank}, store=tmp_path / "cup.db"))[0]
    assert results(board) == results(stored_board(tmp_path / "cup.db")) == expected
    assert [row["agent"] for row in board.rows] == ["greed", "modest", "never"]
    by_returns = {row["agent"]: row["mean_return"] for row in board.rows}
    assert by_returns == {"greed": 4.0, "modest": 2.0, "never": 0.0}  # half of the games bring 8 or 4, the others nothing


def test_every_export_reports_a_fault_as_a_loss(spec: dict[str, Any], tmp_path: Path, say: Callable[..., str]) -> None:
    path = str(tmp_path / "cup.db")
    arena.run({**spec, "rank": "wins"}, store=path)
    rows = list(csv.DictReader(io.StringIO(say("export", path, "--format", "tidy"))))
    faults = [row for row in rows if row["termination"] == "exception"]
    assert len(faults) == 16
    assert all(row["winner"] == ({row["first"], row["second"]} - {"never"}).pop() for row in faults)
    for result, count in {"loss": 16, "fault": 16, "draw": 0, "win": 0}.items():
        assert len(json.loads(say("matches", path, "--agent", "never", "--result", result, "--format", "json"))) == count
    assert len(json.loads(say("matches", path, "--agent", "modest", "--result", "win", "--format", "json"))) == 8
    with Store.open(path) as store:
        for agent, result, count in [("never", "loss", 16), ("never", "draw", 0), ("modest", "win", 8), ("", "draw", 0)]:
            where, values = MatchFilter(agent=agent, result=result).where(store, store.last().boards)
            assert next(iter(store.query(f"SELECT count(*) {PLACED} {where}", values))) == (count,)
    assert "never has 0 on average, modest 0.5, over the " in say("compare", path, "--by", "score")


def test_a_fault_in_a_game_for_three_gives_the_last_place(spec: dict[str, Any], tmp_path: Path) -> None:
    """The other two seats have no returns, so they share the first place."""
    arena.run({**spec, "game": {"name": "harvest", "seats": 3}, "rank": "wins"}, store=tmp_path / "cup.db")
    board = stored_board(tmp_path / "cup.db")
    found, games = results(board), board.rows[0]["games"]
    assert found["never"] == (0, 0, games, 0.0)
    assert found["greed"] == found["modest"] == (0, games, 0, 0.5)


def test_pairs_and_ratings_count_a_fault_as_a_loss() -> None:
    games = PairedGames()
    for round_ in range(5):
        games.add(round_, (0, 1), put_last((0.0, 0.0), 0), round_, used_rng=True)
        games.add(round_, (1, 0), put_last((0.0, 0.0), 1), round_, used_rng=True)
    assert PairedGames.count_pairs(games.pairings()[0, 1]) == (5, 0, 0, 0, 0)
    three = PairedGames()
    for round_ in range(5):
        three.add(round_, (0, 1, 2), put_last((0.0, 0.0, 3.0), 2), round_, used_rng=True)
    ratings = rate(three.results(), range(3))
    assert ratings.strengths[2] < ratings.strengths[0] == pytest.approx(ratings.strengths[1])


def test_formats_count_a_fault_as_a_loss(spec: dict[str, Any], tmp_path: Path) -> None:
    for _ in range(2):  # the second time, the matches come from the store
        played = arena.run({**spec, "rounds": 1, "format": "league", "rank": "wins"}, store=tmp_path / "cup.db")
        rows = Leaderboard.of_results(played)[0].rows
        assert {row["agent"]: row["league_points"] for row in rows} == {"greed": 12, "modest": 6, "never": 0}
    outcomes = Outcomes()
    outcomes.add(Pairing(0, (0, 1)), (0.0, 0.0), loser=0)
    (_, (got, other)), *_ = outcomes.scored()
    assert got < other == 0.0


LATE = '''
from arena import Agent, hookimpl

class Late(Agent):
    """Is lost at the start of the matches that `losers` names: first, second, third, ..."""
    name = "late"
    losers = None
    def __init__(self, *, k: int = 0) -> None:
        if Late.losers and Late.losers[0] == k:
            Late.losers.pop(0)
            raise {error}("too late")
    def choose(self, game, state, search):
        return game.actions(state)[0]

class Judge(Agent):
    """Reports the first action, and then generates states until its budget ends the decision."""
    name = "judge"
    def choose(self, game, state, search):
        action = game.actions(state)[0]
        search.report(action)
        while True:
            game.result(state, action)

@hookimpl
def arena_agents():
    return [Late, Judge]
'''
LOSERS = [0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1]
"""The entry that lost each of 16 games: the first seat lost both games of a round, but in the fourth round entry 0 lost both."""


@pytest.fixture
def late(tmp_path: Path) -> Callable[[str], tuple[arena.Spec, Any]]:
    """Write the plugin, with the exception that ends its matches, and return a spec of 8 rounds and the class of the agent."""

    def late(error: str) -> tuple[arena.Spec, Any]:
        (tmp_path / "late.py").write_text(LATE.replace("{error}", error))
        agents = [{"agent": "late", "label": f"late-{k}", "k": k} for k in (0, 1)]
        spec = load_spec({"game": "tic-tac-toe", "rounds": 8, "agents": agents, "plugins": [str(tmp_path / "late.py")]})
        return spec, spec.registry.value(("agent", "late"))

    return late


@pytest.mark.parametrize(
    ("error", "distinct", "pairs"), [("MemoryError", 16, (1, 0, 7, 0, 0)), ("ValueError", 3, (1, 0, 1, 0, 0))]
)
def test_games_with_different_results_are_not_repeats(
    late: Callable[[str], tuple[arena.Spec, Any]],
    tmp_path: Path,
    say: Callable[..., str],
    error: str,
    distinct: int,
    pairs: tuple[int, ...],
) -> None:
    """The games have no actions. A match that ran out of memory may end differently when it is played again, but an exception
    with the same result counts as a repeat.
    """
    path = tmp_path / "cup.db"
    spec, agent = late(error)
    agent.losers = list(LOSERS)
    board = Leaderboard.of_results(arena.run(spec, store=path))[0]
    assert agent.losers == []
    assert results(board) == results(stored_board(path)) == {"late-0": (7, 0, 9, 7 / 16), "late-1": (9, 0, 7, 9 / 16)}
    assert board.as_dict()["distinct_games"] == stored_board(path).distinct_games == distinct
    with Store.open(path) as store:
        (tally,) = tallies_of(store, store.last().boards)
    assert [PairedGames.count_pairs(one) for one in tally.matches.pairings().values()] == [pairs]
    assert tally.matches.count_decided_by_seat() == (pairs[2], sum(pairs))
    told = say("compare", str(path), "late-0", "late-1")
    assert "scores 43.8 %" in told
    assert f"in {sum(pairs)} pairs of games" in told
    assert f"0 ({pairs[0]}), 1/2 (0), 1 ({pairs[2]}), 1 1/2 (0), 2 (0)" in told


@pytest.mark.parametrize(("limits", "distinct"), [({"seconds": 0.001}, 12), ({"nodes": 50}, 2)])
def test_games_that_a_time_limit_may_affect_are_not_repeats(
    late: Callable[[str], tuple[arena.Spec, Any]], tmp_path: Path, limits: dict[str, float], distinct: int
) -> None:
    """Both agents always play the same moves. A time limit could have stopped another decision, but a node limit could not."""
    late("ValueError")
    agents = [{"agent": "judge", "label": label} for label in "ab"]
    keys = {"game": "tic-tac-toe", "rounds": 6, "agents": agents, "limits": limits, "isolation": "none"}
    played = arena.run({**keys, "plugins": [str(tmp_path / "late.py")]}, store=tmp_path / "cup.db")
    assert stored_board(tmp_path / "cup.db").distinct_games == distinct
    late_decisions = {sum((record.timing or {}).get("out_of_time", [0])) == len(record.decisions) for record in played.records}
    assert late_decisions == {"seconds" in limits}
