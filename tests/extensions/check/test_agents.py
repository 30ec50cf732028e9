"""The kit passes sound agents, and finds every promise that an agent can break, one planted bug for each."""

import io
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar
from unittest.mock import Mock

import numpy as np
import pytest

from arena import Agent, Answer, Game, OutOfBudget, Path, Puzzle, Refused, Search
from arena.clock import sleep
from arena.plugins.registry import Registry
from arena.testing import agent_verdicts, check_agent
from arena.traits import Abilities
from arena_check.agent_checks import NODES, agent_setups
from arena_check.check_run import CheckOptions, CheckRun
from arena_games.sliding_tiles import SlidingTiles
from arena_games.tic_tac_toe import TicTacToe
from tests.agents.test_every_game import OPTIONS, SMALL
from tests.conftest import VirtualClock
from tests.extensions.check.conftest import Breadth
from tests.players import First

Finding = Callable[[Callable[[], object]], dict[str, str]]


# Sound agents, as a newcomer would write them


class Guess(Agent):
    """Plays at random, with the generator it is given."""

    name = "guess"

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        return search.rng.choice(game.actions(state))


class Win(Agent):
    """Plays an action that wins at once, else the best-looking one; the first sign of a bug in a budget."""

    name = "win"
    needs = frozenset({"two-player"})

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        seat = game.to_move(state)
        return search.best(game.actions(state), key=lambda action: search.evaluate(game.result(state, action), seat))


# Small games of their own


@dataclass(unsafe_hash=True)
class Pile:
    """A state that can be changed; a sound agent does not."""

    heap: int
    seat: int = 0
    note: str = ""


class PileNim(Game):
    """Take one to three from a heap. Taking the last one wins."""

    name = "pile-nim"

    def initial(self, rng: random.Random) -> Any:
        return Pile(rng.randint(6, 9))

    def to_move(self, state: Any) -> int:
        seat: int = state.seat
        return seat

    def actions(self, state: Any) -> Sequence[Any]:
        return range(1, min(3, state.heap) + 1)

    def result(self, state: Any, action: Any) -> Any:
        return Pile(state.heap - action, 1 - state.seat)

    def returns(self, state: Any) -> Sequence[float]:
        return (1.0, -1.0) if state.seat == 1 else (-1.0, 1.0)


class Guesswork(Puzzle):
    """Find a number; only the number counts."""

    name = "guesswork"
    path_matters = False

    def initial(self, rng: random.Random) -> Any:
        return 0

    def actions(self, state: Any) -> Sequence[Any]:
        return [1]

    def result(self, state: Any, action: Any) -> Any:
        return state + action

    def is_goal(self, state: Any) -> bool:
        return bool(state - 12 == 0)


class BrokenGame(TicTacToe):
    """Its fourth action blows up."""

    def result(self, state: Any, action: Any) -> Any:
        if sum(state) and state[0].bit_count() + state[1].bit_count() == 3:
            raise OSError("the board fell off the table")
        return super().result(state, action)


class OpaqueGame(PileNim):
    """Its states do not compare by value."""

    def initial(self, rng: random.Random) -> Any:
        return First()


TILES = SlidingTiles(rows=2, columns=3)


@pytest.mark.parametrize(
    ("agent", "game"),
    [
        (First, TicTacToe),
        (First, PileNim),
        (First, Guesswork),
        (Guess, TicTacToe(rows=4, columns=4, in_a_row=4)),
        (Guess, PileNim()),
        (Guess, TILES),
        (Win, TicTacToe()),
        (Win, PileNim()),
        (Breadth, TILES),
        (Breadth(most=20), TILES),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_correct_agent_passes_the_checks(agent: Agent | type[Agent], game: Game) -> None:
    """The agents are typical first attempts of newcomers. Giving up and running out of a budget are not errors."""
    assert check_agent(agent, game) == (f"{game.name}: plays, repeats, one node, randomness",)


@pytest.mark.parametrize("most", [2, pytest.param(1000, marks=pytest.mark.proof)])
def test_every_built_in_agent_passes_on_games_that_it_can_play(most: int, registry: Registry) -> None:
    """Games with chance are as small as possible, and solved games have a small tree. One agent needs a file. Agents of
    bridges are tested elsewhere. An agent plays only a few of the games, chosen in rotation.
    """
    long = {"backgammon", "hearts"}
    options: dict[str, dict[str, object]] = {**OPTIONS, "alpha-beta": {"depth": 2}}  # on checkers, no depth takes minutes
    games = [kind(**SMALL.get(name, {})) for name, kind in registry.games.items() if name not in long]
    checked = Counter[str]()
    for name, agent in registry.agents.items():
        if agent.__module__.startswith("arena_agents") and name != "policy-table":
            fitting = [game for game in games if Abilities(agent).find_refusal(game) is None]
            for game in sorted(fitting, key=lambda game: checked[game.name])[:most]:
                checked[game.name] += 1
                assert check_agent(agent(**options.get(name, {})), game, matches=1)[0].startswith(f"{game.name}: plays")
    assert set(checked) == {game.name for game in games}


@pytest.mark.parametrize("name", ["bfs", "grim", "hold-at"])
def test_without_game_an_agent_is_checked_on_three_games_that_it_can_play(name: str, registry: Registry) -> None:
    """These are the first such games among the built-in ones."""
    games = [game for game in registry.games.values() if not game.native]
    fitting = [game.name for game in games if Abilities(registry.agents[name]).find_refusal(game()) is None]
    assert [line.split(":")[0] for line in check_agent(name, matches=1)] == fitting[:3] != []


@pytest.mark.parametrize(
    ("name", "options", "game"),
    [
        ("lookahead", {"depth": 3}, TicTacToe()),
        ("lookahead", {"depth": 3}, TILES),
        ("minimax", {"depth": 2}, TicTacToe(rows=4, columns=4, in_a_row=3)),
        ("alpha-beta", {"depth": 3}, TicTacToe(rows=4, columns=4, in_a_row=4)),
        ("type-a", {"depth": 1}, TicTacToe()),
        ("type-a-plus", {"depth": 3}, TicTacToe()),
    ],
)
def test_a_built_in_agent_passes_with_options(name: str, options: dict[str, Any], game: Game, registry: Registry) -> None:
    """An agent that is passed as an object is created again for each match, with the same options."""
    assert check_agent(registry.agent(name)(**options), game, matches=2)


# Planted bugs


class Illegal(First):
    def choose(self, game: Game, state: Any, search: Search) -> Any:
        return 99


class IllegalLate(First):
    """Plays the centre, taken or not."""

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        return 5


class Silent(First):
    def choose(self, game: Game, state: Any, search: Search) -> Any:
        return None


class Raising(First):
    def choose(self, game: Game, state: Any, search: Search) -> Any:
        raise KeyError("no idea")


class IllegalAfterThought(First):
    """It generates more states than the checks allow for a decision, and reports nothing."""

    name = "illegal-after-thought"

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        for _ in range(NODES + 1):
            game.result(state, game.actions(state)[0])
        return 99


class RaisingAsSecond(First):
    """Works in the first seat alone."""

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        return [game.actions(state)[0]][game.to_move(state)]


class Exiting(First):
    def choose(self, game: Game, state: Any, search: Search) -> Any:
        raise SystemExit(0)


class Interrupting(First):
    def choose(self, game: Game, state: Any, search: Search) -> Any:
        raise KeyboardInterrupt


class ExitingWhenMade(First):
    def __init__(self) -> None:
        raise SystemExit(0)


class NeedingOptions(First):
    def __init__(self, *, depth: int) -> None:
        self.depth = depth


class SeededByItself(Guess):
    def __init__(self) -> None:
        self.rng = random.Random()

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        return self.rng.choice(game.actions(state))


class Remembering(First):
    """Plays otherwise at each match: its memory is shared by all instances."""

    played: ClassVar[Any] = count()

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        legal = game.actions(state)
        return legal[next(self.played) % len(legal)]


class Rolling(First):
    def choose(self, game: Game, state: Any, search: Search) -> Any:
        return random.choice(game.actions(state))


class RollingForNothing(First):
    def choose(self, game: Game, state: Any, search: Search) -> Any:
        random.random()
        return super().choose(game, state, search)


class RollingWithNumpy(First):
    """Its choices do not depend on the numbers."""

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        np.random.random()
        return game.actions(state)[0]


class RollingWhenMade(First):
    def __init__(self) -> None:
        self.table = [random.getrandbits(64) for _ in range(9)]


class Seeding(First):
    def choose(self, game: Game, state: Any, search: Search) -> Any:
        random.seed(1)
        return super().choose(game, state, search)


class Swallowing(Win):
    """Takes the end of its budget for an error of its own, and then has nothing to say."""

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        try:
            return super().choose(game, state, search)
        except BaseException:
            return None


class Stumbling(Win):
    """Continues without the states that it did not get."""

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        seat, legal = game.to_move(state), game.actions(state)
        children: list[Any] = []
        with suppress(OutOfBudget):
            children += [game.result(state, action) for action in legal]
        return legal[max(range(len(children)), key=lambda number: search.evaluate(children[number], seat))]


class ReportingNothing(First):
    def choose(self, game: Game, state: Any, search: Search) -> Any:
        search.report(None)
        for action in game.actions(state):
            game.result(state, action)
        return game.actions(state)[0]


class OutOfNothing(First):
    """Claims that its budget has run out, which it has not."""

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        raise OutOfBudget("nodes")


class Taking(First):
    """Tries an action on the state itself."""

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        state.heap -= 1
        return 1


class Noting(First):
    """Writes on the state, but not while it is fresh."""

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        if state.seat == 1:
            state.note = "mine"
        return 1


class WrongWay(Breadth):
    def solve(self, game: Game, state: Any, search: Search) -> Any:
        return Path([99])


class ShortWay(Breadth):
    """Its path ends one step before the goal."""

    def solve(self, game: Game, state: Any, search: Search) -> Any:
        found = super().solve(game, state, search)
        return Path(found.actions[:-1]) if isinstance(found, Path) else found


class OnlyTheEnd(Breadth):
    def solve(self, game: Game, state: Any, search: Search) -> Any:
        return Answer(state)


class WordsAlone(Breadth):
    def solve(self, game: Game, state: Any, search: Search) -> Any:
        return "solved"


class SwallowingSolver(Breadth):
    def solve(self, game: Game, state: Any, search: Search) -> Any:
        try:
            return super().solve(game, state, search)
        except OutOfBudget:
            return Path([])


class Babbling(First):
    """Returns text that is no state as the final state."""

    def solve(self, game: Game, state: Any, search: Search) -> Any:
        return Answer("twelve")


class AnsweringByItself(First):
    def solve(self, game: Game, state: Any, search: Search) -> Any:
        return Answer(random.Random().randrange(13, 1_000_000_000))


TOE = TicTacToe()

PLAYS = "must play without a fault"
ONE_NODE = "must play with a budget of one node"
GLOBAL = "the agent uses the global random generator"

PLANTED: list[tuple[type[Agent], Game, str, str]] = [
    (Illegal, TOE, PLAYS, "illegal-action: expected one of .*, got 99"),
    (IllegalAfterThought, TOE, PLAYS, "illegal-action: expected one of .*, got 99"),
    (IllegalLate, TOE, PLAYS, "illegal-action: expected one of .*, got 5"),
    (Silent, TOE, PLAYS, "illegal-action: expected an action, got None"),
    (Raising, TOE, PLAYS, "exception: KeyError: 'no idea' .*test_agents.py:.*"),
    (RaisingAsSecond, TOE, PLAYS, "exception: IndexError: .*"),
    (Exiting, TOE, PLAYS, "exception: SystemExit: 0 .*"),
    (Interrupting, TOE, PLAYS, "exception: KeyboardInterrupt .*"),
    (ExitingWhenMade, TOE, PLAYS, "exception: SystemExit: 0 .*"),
    (NeedingOptions, TOE, PLAYS, "exception: TypeError: .*depth.*"),
    (SeededByItself, TOE, "the same seed gives different actions", ".*"),
    (Remembering, TOE, "the same seed gives different actions", ".*"),
    (Rolling, TOE, GLOBAL, ".*"),
    (RollingForNothing, TOE, GLOBAL, ".*"),
    (RollingWhenMade, TOE, GLOBAL, ".*"),
    (Seeding, TOE, GLOBAL, ".*"),
    (RollingWithNumpy, TOE, "the agent uses numpy's global random generator", ".*"),
    (Swallowing, TOE, ONE_NODE, "illegal-action: expected an action, got None"),
    (Stumbling, TOE, ONE_NODE, "exception: ValueError: .*"),
    (ReportingNothing, TOE, ONE_NODE, "illegal-action: expected an action, got None"),
    (OutOfNothing, TOE, PLAYS, "exception: OutOfBudget: nodes .*"),
    (Taking, PileNim(), "the agent changes the state it is given", "Pile.*"),
    (Noting, PileNim(), "the agent changes the state it is given", "Pile.*note='mine'.*"),
    (WrongWay, TILES, PLAYS, "illegal-action: expected one of .*, got 99"),
    (ShortWay, TILES, PLAYS, "illegal-action: the path of .* actions does not end at a goal"),
    (OnlyTheEnd, TILES, PLAYS, "illegal-action: expected a Path or None, got an Answer.*"),
    (WordsAlone, TILES, PLAYS, "illegal-action: expected a Path, an Answer or None, got 'solved'"),
    (SwallowingSolver, TILES, ONE_NODE, "illegal-action: the path of 0 actions does not end at a goal"),
    (Babbling, Guesswork(), PLAYS, "illegal-action: expected a state of guesswork, got 'twelve' .*"),
    (AnsweringByItself, Guesswork(), "the same seed gives different answers", "[0-9]+"),
    (First, BrokenGame(), PLAYS, "void: OSError: the board fell off the table .*"),
    (First, OpaqueGame(), "states must compare by value", ".*"),
]


@pytest.mark.parametrize(("agent", "game", "what", "got"), [pytest.param(*row, id=row[0].__name__) for row in PLANTED])
def test_a_broken_promise_of_an_agent_is_reported(agent: type[Agent], game: Game, what: str, got: str, finding: Finding) -> None:
    """The message gives the agent, the game, the promise, the seed and the observed value."""
    found = finding(lambda: check_agent(agent, game, seed=7))
    assert found["subject"] == f"{agent.name} on {game.name}"
    again = finding(lambda: check_agent(agent, game, seed=int(found["seed"]), matches=int(found["matches"])))
    assert again["what"] == what
    assert found["what"] == what
    assert re.fullmatch(got, found["got"], re.DOTALL)


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("agent", [IllegalLate, RaisingAsSecond, SeededByItself, Remembering, Swallowing])
def test_a_bug_that_occurs_in_some_matches_is_found_from_any_seed(agent: type[Agent], seed: int, finding: Finding) -> None:
    """The bug is found even with a lucky seed."""
    assert int(finding(lambda: check_agent(agent, TOE, seed=seed))["seed"]) in range(seed, seed + 5)


def test_the_traceback_of_an_agent_is_attached() -> None:
    """The message names the author's line, and the failure contains the traceback without frames of arena."""
    with pytest.raises(AssertionError) as failure:
        check_agent(Raising, TOE)
    assert 'raise KeyError("no idea")' in failure.value.__notes__[0]
    assert "referee.py" not in failure.value.__notes__[0]


def test_the_actions_in_the_message_lead_to_the_fault(finding: Finding) -> None:
    """These actions are legal from the given position, but the agent's next action is not."""
    found = finding(lambda: check_agent(IllegalLate, TOE, seed=7))
    state = TOE.initial(random.Random())
    assert found["actions"] == "5 (1 action, shortened from 3)"  # the centre, taken by the opponent: one action is enough
    for text in ["5"]:
        state = TOE.result(state, TOE.parse_action(state, text))
    assert 5 not in TOE.actions(state)
    assert not TOE.is_terminal(state)


def test_an_agent_that_cannot_play_a_game_is_refused() -> None:
    """A check that cannot test anything fails with the reason, and does not pass."""
    with pytest.raises(Refused, match="breadth cannot play tic-tac-toe: needs single-player, path"):
        check_agent(Breadth, "tic-tac-toe")


class Column(First):
    """Plays the middle column, full or not."""

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        return 3


@pytest.mark.parametrize("seed", range(2))
def test_an_illegal_action_is_found_in_matches_against_itself(seed: int, finding: Finding) -> None:
    """Against a random player, the agent usually wins before the column is full. Against itself, it fills the column in every
    match.
    """
    found = finding(lambda: check_agent(Column, "connect-four", seed=seed, matches=1))
    assert found["what"] == PLAYS
    assert re.fullmatch(r"illegal-action: expected one of \[.*\], got 3", found["got"])
    assert found["actions"].split(" (")[0].split(", ").count("3") == 6


class Wavering(First):
    """Plays the first action, except with four marks on the board, when it plays an unpredictable one."""

    turns: ClassVar[Any] = count()

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        legal = game.actions(state)
        return legal[next(self.turns) % 2] if len(legal) in (5, 4) else legal[0]


def test_the_first_difference_between_two_matches_is_shown(finding: Finding) -> None:
    """The message shows up to five actions before the difference, and the two actions that differ."""
    found = finding(lambda: check_agent(Wavering, TOE))
    assert found["what"] == "the same seed gives different actions"
    assert len(found["actions"].partition(" (")[0].split(", ")) in (4, 5)
    assert re.fullmatch(
        r"\d, as in the first match; take random numbers from search.rng, .*default_rng; keep nothing from match to match, .*",
        found["expected"],
    )
    assert re.fullmatch(r"\d", found["got"])


class Pooling(First):
    """Keeps a thread pool that is idle after the answer and ends with Python."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(1)

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        return self.pool.submit(game.actions, state).result()[0]


def test_an_idle_thread_pool_is_accepted() -> None:
    """Threads without work are not a fault."""
    assert check_agent(Pooling, TOE, matches=1)


class RaisingAlways(First):
    """Never decides."""

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        raise ValueError("no decision")


@pytest.mark.parametrize(
    ("agent", "passed"),
    [
        (RaisingAlways, {"the game"}),
        (RaisingAsSecond, {"the game", "one node", "repeats", "purity", "threads", "randomness"}),
    ],
)
def test_checks_of_decisions_pass_only_if_there_was_a_decision(agent: type[Agent], passed: set[str]) -> None:
    ((_, found),) = agent_verdicts(agent, TOE, matches=4)
    assert {verdict.check for verdict in found if not verdict.kept} == {"plays"}
    assert {verdict.check for verdict in found if verdict.kept and verdict.reached} == passed


class Counted(Agent):
    """Plays the first legal action, and counts its decisions."""

    name = "counted"
    decisions = 0

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        """Return the first action."""
        Counted.decisions += 1
        return game.actions(state)[0]


@pytest.mark.parametrize(("seconds", "matches", "decisions"), [(0.0, 1, 5), (0.0, 4, 5)])
def test_checks_without_time_left_need_only_one_decision_in_each_match(seconds: float, matches: int, decisions: int) -> None:
    """A match has five plays: two that must be alike, two with one node that must be alike, and one from a later state."""
    Counted.decisions = 0
    (setup,) = agent_setups(Counted, TOE, None)
    found = list(setup._replace(seconds=seconds).suite(0, matches, 60.0).verdicts())
    assert all(verdict.kept for verdict in found)
    assert Counted.decisions == decisions


def test_the_duration_of_the_checks_is_estimated_after_the_first_match() -> None:
    foreseen: list[float] = []
    (setup,) = agent_setups(Counted, TOE, None)
    for matches in (1, 3):
        list(setup._replace(foresee=foreseen.append).suite(0, matches, 60.0).verdicts())
    assert len(foreseen) == 1
    assert foreseen[0] > 0


class Sleepy(Agent):
    """Sleeps before each decision, by the clock of the test."""

    name = "sleepy"

    def choose(self, game: Any, state: Any, search: Any) -> Any:
        sleep(0.25)
        return search.rng.choice(game.actions(state))


@pytest.mark.parametrize("games", [("tic-tac-toe",), ("tic-tac-toe", "othello"), ("othello", "tic-tac-toe")])
def test_the_note_about_a_slow_agent_foresees_the_time_of_all_games(
    games: tuple[str, ...],
    clock: VirtualClock,
    registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Othello has about seven times as many moves as tic-tac-toe. The clock moves only when the agent sleeps."""
    monkeypatch.setattr("arena_check.check_run.LONG_SECONDS", 5.0)
    boards = [registry.game(name)() for name in games]
    second = Mock(verdict=Mock(return_value=None))
    began = clock.monotonic()
    run = CheckRun(registry, "sleepy", CheckOptions(), (), io.StringIO(), Mock(), second, boards)
    assert run.passes(("agent", "sleepy"), Sleepy)
    took = clock.monotonic() - began
    [told] = re.findall(r"sleepy is slow, so the checks will take about (\d+) s", capsys.readouterr().err)
    assert took / 1.5 < int(told) < took * 1.5
