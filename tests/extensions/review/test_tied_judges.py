"""The judges of games that are not zero-sum for two, and the values that searches prove there, against a list of all
subgame-perfect outcomes.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

import arena
from arena import Agent, Game, load_plugins
from arena.cli import cli
from arena_agents.full_width import Expectimax
from arena_agents.mcts import MCTS
from arena_review.api import BEST, DECISIVE, MISTAKE, Review
from arena_review.board import JudgedBoard
from tests.extensions.review.test_judges import judge

TRUST = '''
from arena import Game, hookimpl


class Trust(Game):
    """Seat 0 plays safe for 5, or trusts seat 1, who gets 5 either way and decides whether seat 0 gets 10 or 0."""

    name = "trust"
    zero_sum = False
    min_return = 0.0
    max_return = 10.0

    def __init__(self, *, first: str = "honour"):
        self.replies = ("honour", "betray") if first == "honour" else ("betray", "honour")

    def initial(self, rng):
        return "start"

    def to_move(self, state):
        return int(state == "trust")

    def actions(self, state):
        return {"start": ("safe", "trust", "burn"), "trust": self.replies}.get(state, ())

    def result(self, state, action):
        return action

    def returns(self, state):
        return {"safe": (5.0, 5.0), "honour": (10.0, 5.0), "betray": (0.0, 5.0), "burn": (0.0, 0.0)}[state]


@hookimpl
def arena_games():
    return [Trust]
'''
TREES = '''
import random

from arena import CHANCE, Game, hookimpl, uniform


class Trees(Game):
    """Two actions in every state, and returns of 0, 1 or 2 that depend on the seed. With `odds`, chance moves at the end."""

    name = "trees"
    zero_sum = False
    min_return = 0.0
    max_return = 2.0

    def __init__(self, *, seed: int = 0, seats: int = 2, depth: int = 3, odds: bool = False):
        self.seed, self.players, self.depth, self.odds = seed, seats, depth, odds

    def initial(self, rng):
        return "-"

    def to_move(self, state):
        return CHANCE if self.odds and len(state) == self.depth else (len(state) - 1) % self.players

    def actions(self, state):
        return ("a", "b") if len(state) <= self.depth else ()

    def chance_outcomes(self, state):
        return uniform(self.actions(state))

    def result(self, state, action):
        return state + action

    def returns(self, state):
        rng = random.Random(f"{self.seed} {state}")
        return tuple([float(rng.randrange(3)) for _ in range(self.players)])


@hookimpl
def arena_games():
    return [Trees]
'''


RING = '''
from arena import Game, hookimpl


class Ring(Game):
    """Whoever quits gets -1, and the other one 3. Nothing else ends the game."""

    name, zero_sum, min_return, max_return, default_moves = "ring", False, -2.0, 5.0, 10

    def initial(self, rng):
        return (0, 0)

    def to_move(self, state):
        return state[1]

    def actions(self, state):
        return () if state[0] else ("wait", "quit")

    def result(self, state, action):
        return (int(action == "quit"), 1 - state[1])

    def returns(self, state):
        return (-1.0, 3.0) if state[1] == 1 else (3.0, -1.0)


class Race(Ring):
    """The same with a result so far, which counts at the move limit."""

    name = "race"

    def standing(self, state):
        return (0.5, 0.25)


class Solo(Race):
    """The same for one seat, which gets -1 if it quits."""

    name, players = "solo", 1

    def to_move(self, state):
        return 0

    def returns(self, state):
        return (-1.0,)

    def standing(self, state):
        return (0.5,)


@hookimpl
def arena_games():
    return [Ring, Race, Solo]
'''
TAKE = '''
from arena import Game, hookimpl


class Take(Game):
    """The first seat takes a number, and the second one gets 1."""

    name, zero_sum, min_return, max_return = "take", False, 0, 10

    def initial(self, rng):
        return "start"

    def to_move(self, state):
        return 0

    def actions(self, state):
        return (9, 7, 5) if state == "start" else ()

    def result(self, state, action):
        return str(action)

    def returns(self, state):
        return (float(state), 1.0)


@hookimpl
def arena_games():
    return [Take]
'''


@pytest.fixture
def trust(tmp_path: Path) -> str:
    """The file of the game in which seat 0 may trust seat 1."""
    (tmp_path / "trust.py").write_text(TRUST)
    return str(tmp_path / "trust.py")


@pytest.mark.parametrize("name", ["exact", "search"])
@pytest.mark.parametrize("first", ["honour", "betray"])
def test_no_verdict_is_given_if_another_seat_is_indifferent_between_its_actions(trust: str, first: str, name: str) -> None:
    """Trust is worth 10 or 0, so neither trust nor a certain 5 is a mistake. A certain 0 loses 5 to 10. The order of the
    actions does not matter.
    """
    game = load_plugins([trust]).game("trust")(first=first)
    asked = judge(game, name, plugin=trust, first=first)
    found = [asked("start", action) for action in ("safe", "trust", "burn")]
    assert [one and (one.judge, one.grade, one.loss) for one in found] == [(name, None, None)] * 3


@pytest.mark.parametrize(("taken", "grade"), [(7, MISTAKE), (5, DECISIVE)], ids=["less than 3 of 10", "4 of 10"])
def test_a_decisive_mistake_loses_three_tenths_of_the_range(taken: int, grade: str, tmp_path: Path) -> None:
    """Returns range from 0 to 10. The mover could get 9, and takes 2 or 4 less. No result is a win or a loss."""
    (tmp_path / "take.py").write_text(TAKE)
    game = load_plugins([str(tmp_path / "take.py")]).game("take")()
    verdict = judge(game, "exact", plugin=str(tmp_path / "take.py"))("start", taken)
    assert verdict is not None
    assert (verdict.grade, verdict.loss) == (grade, 9 - taken)
    (kind,) = JudgedBoard(Review(game, {"name": "take"}, [str(tmp_path / "take.py")], 1000, 10), "exact").kinds
    assert "three tenths of their range" in kind.description


@pytest.mark.parametrize("moves", [None, 2, 7, 10, 1000])
@pytest.mark.parametrize(("name", "ends"), [("ring", (0.0, 0.0)), ("race", (0.5, 0.25)), ("solo", (0.5,))])
def test_an_endless_line_of_play_has_the_value_of_the_result_at_the_move_limit(
    name: str, ends: tuple[float, ...], moves: int | None, tmp_path: Path
) -> None:
    """By backward induction, both seats wait until the limit, because its result is better than -1. So the loss of quitting
    is this result plus 1.

    The middle of the range from -2 to 5 is 1.5, which no seat can get.
    """
    (tmp_path / "ring.py").write_text(RING)
    plugin = str(tmp_path / "ring.py")
    asked = judge(load_plugins([plugin]).game(name)(), "search", plugin=plugin, moves=moves)
    for seat in range(len(ends)):
        ended, wait = asked((0, seat), "quit"), asked((0, seat), "wait")
        assert ended is not None
        assert (ended.best, ended.loss, ended.value, ended.best_value) == ("wait", ends[seat] + 1, -1, ends[seat])
        assert wait is not None
        assert (wait.grade, wait.loss) == (BEST, 0.0)


@pytest.mark.parametrize("name", ["exact", "search"])
def test_an_action_is_judged_if_only_the_seat_to_move_is_indifferent(trust: str, name: str) -> None:
    """For seat 1, both replies have the same value."""
    asked = judge(load_plugins([trust]).game("trust")(), name, plugin=trust)
    found = [asked("trust", action) for action in ("honour", "betray")]
    assert [one and (one.grade, one.loss, one.best_value) for one in found] == [(BEST, 0.0, 5.0)] * 2


def list_values(game: Game) -> Iterator[dict[str, float]]:
    """The values of the actions at the root for seat 0, for each subgame-perfect choice of actions in all other states.

    A choice of actions is subgame-perfect if in no state another action gives the seat that moves there more.
    """
    states = ["-"]
    for state in states:
        states += [game.result(state, action) for action in game.actions(state)]
    decided = [state for state in states[1:] if game.actions(state) and game.to_move(state) >= 0]
    for actions in product("ab", repeat=len(decided)):
        chosen = dict(zip(decided, actions, strict=True))

        def worth(state: str, chosen: dict[str, str] = chosen) -> tuple[float, ...]:
            if game.is_terminal(state):
                return tuple(game.returns(state))
            if game.to_move(state) < 0:
                return tuple([(one + other) / 2 for one, other in zip(worth(state + "a"), worth(state + "b"), strict=True)])
            return worth(state + chosen[state])

        movers = [(state, game.to_move(state)) for state in decided]
        if all(worth(state)[seat] >= max([worth(state + action)[seat] for action in "ab"]) for state, seat in movers):
            yield {action: worth("-" + action)[0] for action in "ab"}


@pytest.mark.parametrize(
    ("seats", "depth", "odds", "trees", "missing"),
    [(2, 3, False, 40, 0), (2, 3, True, 40, 0), (3, 3, False, 40, 10), (2, 4, False, 4, 1)],
)
def test_a_verdict_holds_for_all_subgame_perfect_choices(
    tmp_path: Path, seats: int, depth: int, odds: bool, trees: int, missing: int
) -> None:
    """There is a verdict if the loss is the same for all of these choices. A few large trees are exceptions, because intervals do
    not show which values of two seats occur together.
    """
    (tmp_path / "trees.py").write_text(TREES)
    plugin = str(tmp_path / "trees.py")
    kind = load_plugins([plugin]).game("trees")
    seen: Counter[str] = Counter()
    for seed in range(trees):
        parameters = {"seed": seed, "seats": seats, "depth": depth, "odds": odds}
        asked = judge(kind(**parameters), "exact", plugin=plugin, **parameters)
        values = list(list_values(kind(**parameters)))
        for action in "ab":
            losses = {max(one.values()) - one[action] for one in values}
            verdict = asked("-", action)
            assert verdict is not None
            if verdict.grade is None:
                assert verdict.loss is None
                seen["tie" if len(losses) > 1 else "missing"] += 1
                continue
            seen["verdict"] += 1
            assert verdict.loss is not None
            assert losses == {verdict.loss}, (seed, action)
            assert verdict.grade == (
                BEST if verdict.loss == 0.0 else MISTAKE if verdict.loss < 0.6 else DECISIVE
            )  # of a range of 2
            if verdict.value is not None:
                assert {one[action] for one in values} == {verdict.value}
                assert {max(one.values()) for one in values} == {verdict.best_value}
    assert min(seen["verdict"], seen["tie"]) >= trees // 4, seen
    assert seen["missing"] <= missing, seen


@pytest.mark.parametrize("limits", [{}, {"nodes": 100_000}], ids=["whole", "step by step"])
@pytest.mark.parametrize("search", [MCTS(rollouts=100), Expectimax(depth=8)], ids=["mcts", "expectimax"])
@pytest.mark.parametrize("first", ["honour", "betray"])
def test_a_value_that_depends_on_an_indifferent_seat_is_not_proven(
    trust: str, first: str, search: Agent, limits: dict[str, int]
) -> None:
    """Seat 1 decides whether seat 0, which trusts it, gets 10 or 0, so only the value 5 is certain."""
    game = load_plugins([trust]).game("trust")(first=first)
    first_decision, *rest = arena.play(game, [search, Expectimax()], limits=limits).decisions
    assert not first_decision.exact
    assert all(one.exact for one in rest)  # seat 1 gets 5 either way


class Wait(Game):
    """Seat 0 starts, then seat 1, who gets the same either way, ends the game or lets seat 2 end it; seat 0 wins."""

    name, players, zero_sum = "wait", 3, False

    def initial(self, rng: random.Random) -> str:
        return ""

    def to_move(self, state: str) -> int:
        return len(state)

    def actions(self, state: str) -> tuple[str, ...]:
        return {"": ("a",), "a": ("a", "b"), "ab": ("a",)}.get(state, ())

    def result(self, state: str, action: str) -> str:
        return state + action

    def returns(self, state: str) -> tuple[float, ...]:
        return (1.0, 0.0, -1.0)


def test_a_win_whose_length_another_seat_decides_is_not_proven() -> None:
    """Seat 1 decides whether it takes 2 or 3 plies, so `win in 2` is not proven. Seat 2 certainly loses in 1 ply."""
    record = arena.play(Wait(), [Expectimax(depth=5), Expectimax(depth=5), Expectimax(depth=5)])
    assert (record.decisions[0].value, record.decisions[0].exact) == (1 - 2e-6, False)


@pytest.mark.parametrize(("seats", "depth", "odds", "trees"), [(2, 3, False, 30), (2, 3, True, 20), (3, 3, False, 30)])
def test_a_proven_value_holds_for_all_subgame_perfect_choices(
    tmp_path: Path, seats: int, depth: int, odds: bool, trees: int
) -> None:
    """All of these choices have this value. If another value occurs, the value is not proven."""
    (tmp_path / "trees.py").write_text(TREES)
    kind = load_plugins([str(tmp_path / "trees.py")]).game("trees")
    seen: Counter[str] = Counter()
    for seed in range(trees):
        game = kind(seed=seed, seats=seats, depth=depth, odds=odds)
        listed = {max(one.values()) for one in list_values(game)}
        for search in (MCTS(), Expectimax(depth=8)):
            decision = arena.play(game, [search, *["random"] * (seats - 1)]).decisions[0]
            seen[f"{search.name} {'exact' if decision.exact else 'open'}"] += 1
            if decision.exact:
                (value,) = listed
                assert decision.value == pytest.approx(value - 1, abs=1e-5), seed
    assert min(seen["expectimax exact"], seen["expectimax open"]) > trees // 5, seen
    assert seen["mcts exact"] == 0, seen  # it proves only wins with the next action here, and these trees have none


def test_a_review_reports_ties_and_gives_no_comparison_if_they_prevent_verdicts(
    tmp_path: Path, trust: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Seat 0 has one decision without a verdict in each match. More effort would not help, so it is not suggested."""
    agents = ["random", {"agent": "random", "label": "other"}]
    store = str(tmp_path / "cup.db")
    results = arena.run({"game": "trust", "agents": agents, "plugins": [trust], "rounds": 6, "seed": 1}, store=store)
    replies = sum(len(record.actions) == 2 for record in results.records)
    assert 0 < replies < 12
    words = ["review", store, "--plugin", trust]
    cli.main([*words, "--format", "json"], standalone_mode=False)
    (board,) = json.loads(capfd.readouterr()[0])["boards"]
    assert sum(one["ungraded"].get("exact", 0) for one in board["agents"]) == 12
    assert sum(one["judges"].get("exact", 0) for one in board["agents"]) == replies
    assert {one["judge"] for one in board["decisions"]} == {"exact"}
    cli.main(words, standalone_mode=False)
    said = capfd.readouterr()[0].replace("\n", " ")
    assert f"The judge exact judged {replies} of {12 + replies} decisions." in said
    assert "gives a verdict only if the loss is the same however the players choose among actions that are equal" in said
    assert "12 decisions have no verdict, because their loss may depend on how the players choose among actions" in said
    cli.main(["compare", store, "--by", "loss"], standalone_mode=False)
    said = capfd.readouterr()[0]
    assert "could not be judged." in said
    assert "--effort" not in said


def test_the_factor_for_comparisons_by_returns_is_given_only_for_two_player_zero_sum_games(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """In other games, returns are not the difference of the players' losses. No decision in this tree has a tie."""
    (tmp_path / "trees.py").write_text(TREES)
    store, plugin = str(tmp_path / "cup.db"), str(tmp_path / "trees.py")
    agents = ["random", {"agent": "random", "label": "other"}]
    spec = {"game": {"name": "trees", "seed": 31, "depth": 4}, "agents": agents, "plugins": [plugin], "rounds": 8}
    results = arena.run(spec, store=store)
    assert len({record.returns for record in results.records}) > 1
    cli.main(["review", store, "--plugin", plugin], standalone_mode=False)
    capfd.readouterr()
    cli.main(["compare", store, "--by", "loss", "--format", "json"], standalone_mode=False)
    (pair,) = json.loads(capfd.readouterr()[0])[0]["pairs"]
    assert "withheld" not in pair
    _, remark = pair["remarks"]
    assert remark.startswith("Decisions without a verdict are left out: 0 of ")
