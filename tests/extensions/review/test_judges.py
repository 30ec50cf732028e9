"""The judges against brute force, theorems and published values."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import Game, Limits, load_plugins
from arena_games.connect_four import ConnectFour
from arena_games.kuhn_poker import KuhnPoker
from arena_games.sliding_tiles import SlidingTiles
from arena_games.tic_tac_toe import TicTacToe
from arena_review.api import BEST, DECISIVE, INACCURACY, MISTAKE, Decision, Review, Verdict
from arena_review.board import JudgedBoard, find_move_limit
from arena_review.deepening import Rung
from arena_review.game_judges import SearchJudge

Asked = Callable[[Any, Any], Verdict | None]


def judge(
    game: Game,
    name: str,
    *,
    nodes: int = 1000,
    effort: int = 10,
    plugin: str | None = None,
    moves: int | None = None,
    **parameters: Any,
) -> Asked:
    """A function that judges an action in a state, and asks every question once."""
    plugins = [] if plugin is None else [plugin]
    review = Review(game, {"name": game.name, **parameters}, plugins, nodes, effort, moves=moves)
    (judge,) = JudgedBoard(review, name).judges
    answers: dict[str, Any] = {}

    def verdict(state: Any, action: Any) -> Verdict | None:
        after = game.result(state, action)
        decision = Decision(
            game.to_move(state), state, action, after, game.format_state(state), game.format_action(state, action)
        )
        for question in judge.questions(decision):
            if question not in answers:
                answers[question] = judge.answer(question)
        return judge.verdict(decision, answers)

    return verdict


def solver(game: Game) -> Callable[[Any], float]:
    """The twin: the value of a state to the first seat, by all lines of play."""

    @cache
    def value(state: Any) -> float:
        if game.is_terminal(state):
            return game.returns(state)[0]
        values = [value(game.result(state, action)) for action in game.actions(state)]
        return max(values) if game.to_move(state) == 0 else min(values)

    return value


def reachable(game: Game) -> Iterator[Any]:
    """Every state that is not over, once."""
    seen = {game.initial(random.Random(0))}
    level = list(seen)
    while level:
        yield from (state for state in level if not game.is_terminal(state))
        level = [game.result(state, action) for state in level if not game.is_terminal(state) for action in game.actions(state)]
        level = [state for state in dict.fromkeys(level) if state not in seen]
        seen.update(level)


def hold_to_twin(game: Game, states: Iterable[Any], asked: Asked) -> int:
    """Compare the verdicts on every action of some states with the twin's values; return how many verdicts there are."""
    value, judged = solver(game), 0
    for state in states:
        sign = 1 if game.to_move(state) == 0 else -1
        best = sign * value(state)
        for action in game.actions(state):
            verdict = asked(state, action)
            if verdict is None:
                continue
            judged += 1
            got = sign * value(game.result(state, action))
            assert (verdict.best_value, verdict.value, verdict.loss) == (best, got, best - got)
            assert verdict.grade == (BEST if got == best else DECISIVE)
            assert verdict.exact
            named = game.parse_action(state, verdict.best or "")
            assert sign * value(game.result(state, named)) == best
    return judged


def test_some_positions_of_tic_tac_toe_are_judged_as_by_brute_force() -> None:
    """The test covers each action in every 60th position. Brute force searches all lines of play."""
    game = TicTacToe()
    states = list(reachable(game))
    assert len(states) == 4_520  # of 5,478: the others are over
    chosen = states[::60]
    assert hold_to_twin(game, chosen, judge(game, "exact")) == sum(len(game.actions(state)) for state in chosen)


@pytest.mark.proof
def test_all_positions_of_tic_tac_toe_are_judged_as_by_brute_force() -> None:
    """The test covers all 16,167 actions in the 4,520 unfinished positions. Brute force searches all lines of play."""
    game = TicTacToe()
    assert hold_to_twin(game, reachable(game), judge(game, "exact")) == 16_167


NIM = '''
from arena import Game, hookimpl


class Nim(Game):
    """The player who takes the last match wins."""

    name = "nim-of-heaps"

    def initial(self, rng):
        return 0, (3, 4, 5)

    def to_move(self, state):
        return state[0]

    def actions(self, state):
        return [(heap, taken) for heap, size in enumerate(state[1]) for taken in range(1, size + 1)]

    def result(self, state, action):
        heaps = list(state[1])
        heaps[action[0]] -= action[1]
        return 1 - state[0], tuple(heaps)

    def returns(self, state):
        return (-1.0, 1.0) if state[0] == 0 else (1.0, -1.0)


@hookimpl
def arena_games():
    return [Nim]
'''


def test_verdicts_in_nim_agree_with_boutons_theorem(tmp_path: Path) -> None:
    """A move loses if and only if the nim-sum was not 0 before and is not 0 after it (Bouton, 1901)."""
    file = tmp_path / "nim.py"
    file.write_text(NIM)
    game = load_plugins([str(file)]).game("nim-of-heaps")()
    asked = judge(game, "exact", plugin=str(file))
    for state in [(0, (1, 2, 3)), (0, (1, 2, 2)), (1, (2, 1, 1)), (0, (0, 3, 2)), (1, (3, 1, 2))]:
        for action in game.actions(state):
            before, after = [one ^ two ^ three for one, two, three in (state[1], game.result(state, action)[1])]
            verdict = asked(state, action)
            assert verdict is not None
            assert verdict.grade == (DECISIVE if before and after else BEST)
            assert verdict.best_value == (1.0 if before else -1.0)


def after_random_plies(game: Game, plies: int, seed: int) -> Any:
    """Return a state after this many random actions in which play is not over."""
    rng = random.Random(seed)
    while True:
        state = game.initial(rng)
        for _ in range(plies):
            if not game.is_terminal(state):
                state = game.result(state, rng.choice(game.actions(state)))
        if not game.is_terminal(state):
            return state


def test_connect_four_on_4x5_is_judged_as_by_brute_force() -> None:
    """Half of the board is full, and brute force searches all lines of play."""
    game = ConnectFour(rows=4, columns=5)
    states = [after_random_plies(game, 11, seed) for seed in range(6)]
    assert hold_to_twin(game, states, judge(game, "exact", rows=4, columns=5)) == sum(len(game.actions(one)) for one in states)


@pytest.mark.parametrize(("rows", "columns", "plies"), [(4, 4, 6), (4, 5, 12), (5, 5, 17)])
def test_losses_agree_with_open_spiel(rows: int, columns: int, plies: int, missing: Callable[[str, str], None]) -> None:
    """The losses are computed from open_spiel's minimax values of the position and its successors."""
    try:
        import pyspiel
        from open_spiel.python.algorithms.minimax import alpha_beta_search as search
    except ImportError:
        missing("open-spiel", "open_spiel is not installed")
        raise
    game, theirs = (
        ConnectFour(rows=rows, columns=columns),
        pyspiel.load_game(f"connect_four(rows={rows},columns={columns},x_in_row=4)"),
    )
    asked = judge(game, "exact", rows=rows, columns=columns)
    for seed in range(3):
        rng, state, twin = random.Random(seed), game.initial(random.Random(0)), theirs.new_initial_state()
        for _ in range(plies):
            safe = [action for action in game.actions(state) if not game.is_terminal(game.result(state, action))]
            action = rng.choice(safe)
            state = game.result(state, action)
            twin.apply_action(action - 1)
        mover = twin.current_player()
        values = {}
        for action in game.actions(state):
            child = twin.clone()
            child.apply_action(action - 1)
            ended = child.is_terminal()
            values[action] = child.player_return(mover) if ended else search(theirs, state=child, maximizing_player_id=mover)[0]
        for action, value in values.items():
            verdict = asked(state, action)
            assert verdict is not None
            assert verdict.loss == max(values.values()) - value


def distances(puzzle: SlidingTiles, most: int | None = None) -> dict[Any, int]:
    """The number of moves to the goal of every state, by breadth-first search from the goal."""
    goal = puzzle.parse_state("1 2 3 / 4 5 6 / 7 8 .")
    found, level = {goal: 0}, [goal]
    while level and (most is None or found[level[0]] < most):
        after = []
        for state in level:
            for action in puzzle.actions(state):
                successor = puzzle.result(state, action)
                if successor not in found:
                    found[successor] = found[state] + 1
                    after.append(successor)
        level = after
    return found


def hold_to_distances(puzzle: SlidingTiles, states: Sequence[Any], away: dict[Any, int]) -> int:
    """Compare the regret of every action with the distances; return how many actions there are."""
    asked, actions = judge(puzzle, "regret"), 0
    for state in states:
        for action in puzzle.actions(state):
            verdict = asked(state, action)
            assert verdict is not None
            regret = 1 + away[puzzle.result(state, action)] - away[state]
            assert (verdict.best_value, verdict.loss, verdict.exact) == (away[state], regret, True)
            assert (verdict.grade == BEST) == (regret == 0)
            actions += 1
    return actions


def test_regrets_in_some_states_of_the_eight_puzzle_agree_with_distances() -> None:
    """A move away from the goal costs two moves."""
    puzzle = SlidingTiles()
    away = distances(puzzle, 13)
    states = [state for state, moves in away.items() if 0 < moves < 13]
    assert hold_to_distances(puzzle, states[::100], away) == 50


@pytest.mark.proof
def test_regrets_in_all_states_of_the_eight_puzzle_agree_with_distances() -> None:
    """The 181,440 states are judged from the farthest to the nearest, so each solution answers many later questions."""
    puzzle = SlidingTiles()
    away = distances(puzzle)
    assert len(away) == 181_440
    states = sorted([state for state in away if away[state]], key=lambda state: -away[state])
    assert hold_to_distances(puzzle, states, away) == 483_838


CORNER = '''
from arena import Puzzle, hookimpl


class Corner(Puzzle):
    """Walk from 0 to 3; the step to 9 has no way back."""

    name = "corner"

    def initial(self, rng):
        return 0

    def actions(self, state):
        return () if state == 9 else (state + 1, 9)

    def result(self, state, action):
        return action

    def is_goal(self, state):
        return state == 3


@hookimpl
def arena_games():
    return [Corner]
'''


def test_a_step_into_a_dead_end_is_a_decisive_mistake(tmp_path: Path) -> None:
    """Its loss is not a number, because no goal can be reached any more."""
    file = tmp_path / "corner.py"
    file.write_text(CORNER)
    asked = judge(load_plugins([str(file)]).game("corner")(), "regret", plugin=str(file))
    lost, kept = asked(1, 9), asked(1, 2)
    assert lost is not None
    assert kept is not None
    assert (lost.grade, lost.loss, lost.best) == (DECISIVE, None, "2")
    assert (kept.grade, kept.loss, kept.best_value) == (BEST, 0.0, 2.0)


DIAL = '''
from arena import Puzzle, heuristic, hookimpl

COSTS = {1: 0.1, -1: 0.1, 7: 0.3, -7: 0.3, 20: 1.7}


class Dial(Puzzle):
    """Turn a dial with 100 marks to mark 0."""

    name = "dial"

    def initial(self, rng):
        return rng.randrange(1, 100)

    def actions(self, state):
        return tuple(COSTS)

    def result(self, state, action):
        return (state + action) % 100

    def step_cost(self, state, action, successor):
        return COSTS[action]

    def is_goal(self, state):
        return state == 0


@hookimpl
def arena_games():
    return [Dial]
'''


def dial_distances() -> dict[int, int]:
    """The twin: the least cost of every mark in tenths, which are whole numbers, by Bellman and Ford."""
    steps = {1: 1, -1: 1, 7: 3, -7: 3, 20: 17}
    away = {mark: 0 if mark == 0 else 10**6 for mark in range(100)}
    for _ in range(100):
        away = {mark: min(away[mark], *[cost + away[(mark + turn) % 100] for turn, cost in steps.items()]) for mark in away}
    return away


def test_an_optimal_step_has_no_regret_despite_rounding_errors(tmp_path: Path) -> None:
    """Sums of 0.1 and 0.3 in another order have different rounding errors."""
    file = tmp_path / "dial.py"
    file.write_text(DIAL)
    puzzle, away = load_plugins([str(file)]).game("dial")(), dial_distances()
    asked = judge(puzzle, "regret", plugin=str(file))
    tenths = {1: 1, -1: 1, 7: 3, -7: 3, 20: 17}
    best = 0
    for mark in range(1, 100, 3):
        for action, cost in tenths.items():
            verdict = asked(mark, action)
            assert verdict is not None
            regret = cost + away[(mark + action) % 100] - away[mark]
            assert verdict.loss == pytest.approx(regret / 10)
            assert (verdict.loss == 0.0) == (verdict.grade == BEST) == (regret == 0)
            best += regret == 0
    assert best >= 33


GAMBLE = '''
from arena import CHANCE, Game, hookimpl, uniform


class Gamble(Game):
    """Take half a point, toss a coin for a point, or lose a quarter in three of four cases."""

    name = "gamble"

    def initial(self, rng):
        return ""

    def to_move(self, state):
        return CHANCE if state in ("coin", "four") else 0

    def actions(self, state):
        return {"": ("half", "coin", "four"), "coin": ("up", "down"), "four": ("1", "2", "3", "4")}.get(state, ())

    def chance_outcomes(self, state):
        return uniform(self.actions(state))

    def result(self, state, action):
        return action

    def returns(self, state):
        first = {"half": 0.5, "up": 1.0, "down": -1.0, "1": 1.0}.get(state, -0.25)
        return first, -first


@hookimpl
def arena_games():
    return [Gamble]
'''


def test_chance_is_judged_by_the_mean_of_its_outcomes(tmp_path: Path) -> None:
    """Computed by hand, the values are 1/2 for the safe action, 0 for the coin, and 1/16 for the die."""
    file = tmp_path / "gamble.py"
    file.write_text(GAMBLE)
    asked = judge(load_plugins([str(file)]).game("gamble")(), "exact", plugin=str(file))
    found = [asked("", action) for action in ("half", "coin", "four")]
    assert all(found)
    assert [(one.value, one.loss) for one in found if one] == [(0.5, 0.0), (0.0, 0.5), (0.0625, 0.4375)]
    assert [one.grade for one in found if one] == [BEST, MISTAKE, MISTAKE]


def test_kuhn_poker_is_judged_by_its_equilibrium() -> None:
    """The losses of three known errors are computed by hand from the equilibria of H. W. Kuhn (1950)."""
    game = KuhnPoker()
    asked = judge(game, "equilibrium")
    fold_king, call_jack, bet_queen = asked(("JK", "b"), "pass"), asked(("KJ", "b"), "bet"), asked(("QJ", ""), "bet")
    assert fold_king is not None
    assert call_jack is not None
    assert bet_queen is not None
    assert fold_king.loss == 3.0
    assert call_jack.loss == 1.0
    assert bet_queen.loss == pytest.approx(1 / 6, abs=0.01)
    assert {one.grade for one in (fold_king, call_jack)} == {MISTAKE}
    passed = asked(("QJ", ""), "pass")
    assert passed is not None
    assert passed.grade == BEST


def test_an_action_is_never_called_a_mistake_because_of_an_estimate_alone() -> None:
    """With a queen against a bet, searches of single deals fold if the opponent has the king, and call if it has the jack."""
    found = judge(KuhnPoker(), "estimate", nodes=100)(("KQ", "b"), "pass")
    assert found is not None
    assert (found.grade, found.judge) == (None, "estimate")
    assert found.value == -1.0


@pytest.mark.parametrize(("shallow", "deep", "grade"), [(-0.5, -0.6, DECISIVE), (0.2, -0.6, None), (0.2, 0.15, INACCURACY)])
def test_an_inexact_verdict_needs_the_same_class_at_both_search_budgets(shallow: float, deep: float, grade: str | None) -> None:
    """The best action is worth 0.3. The values at half and at the full budget must give the same class of mistake."""
    game = ConnectFour()
    state = game.initial(random.Random(0))
    after = game.result(state, 1)
    decision = Decision(0, state, 1, after, game.format_state(state), "1")
    judge = SearchJudge(Review(game, {"name": "connect-four"}, (), 1000, 10))
    best = [Rung(5, 9_000, 0.3, "4", exact=False), Rung(7, 19_000, 0.3, "4", exact=False)]
    reply = [Rung(4, 8_000, -shallow, "4", exact=False), Rung(6, 18_000, -deep, "4", exact=False)]
    verdict = judge.verdict(decision, {decision.text: best, game.format_state(after): reply})
    assert (None if verdict is None else (verdict.grade, verdict.exact)) == (None if grade is None else (grade, False))


CHASE = '''
from arena import CHANCE, Game, hookimpl, uniform


class Chase(Game):
    """A hunter and a prey on a ring move in turns by a step or not at all; the hunter wins when the two meet."""

    name = "ring-chase"

    def __init__(self, *, ring: int = 6):
        self.ring = ring

    def initial(self, rng):
        return (2, 0)

    def to_move(self, state):
        return state[1]

    def is_terminal(self, state):
        return state[0] == 0

    def actions(self, state):
        return (-1, 0, 1) if state[0] else ()

    def result(self, state, action):
        distance, seat = state
        return ((distance + (action if seat else -action)) % self.ring, 1 - seat)

    def returns(self, state):
        return (1.0, -1.0)


class Dance(Game):
    """The players walk 300 steps, and chance, if it takes part, rolls after each; the sum of the steps decides the returns."""

    name = "dance"

    def __init__(self, *, players: int = 2, zero_sum: bool = True, chance: bool = False):
        self.players, self.zero_sum, self.chance = players, zero_sum, chance

    def initial(self, rng):
        return (0, 0)

    def to_move(self, state):
        return CHANCE if self.chance and state[0] % 2 else state[0] // 2 % self.players

    def actions(self, state):
        return (0, 1) if state[0] < 600 else ()

    def chance_outcomes(self, state):
        return uniform((0, 1)) if self.chance else ()

    def result(self, state, action):
        return (state[0] + 1 + (not self.chance), state[1] + action)

    def returns(self, state):
        first = 1.0 if state[1] % 2 else -1.0
        return (first, *[-first / (self.players - 1)] * (self.players - 1)) if self.zero_sum else (first,) * self.players


@hookimpl
def arena_games():
    return [Chase, Dance]
'''


@pytest.mark.parametrize("moves", [None, 8, 30])
def test_a_losing_move_is_never_best_even_if_all_random_play_ends_in_the_same_way(tmp_path: Path, moves: int | None) -> None:
    """On a ring, a hunter never catches prey that walks as fast, so the prey draws unless it lets the hunter step onto it.
    Backward induction over 30 moves confirms this.

    All random play ends with the capture, unless a move limit ends it first.
    """
    file = tmp_path / "chase.py"
    file.write_text(CHASE)
    game: Any = load_plugins([str(file)]).game("ring-chase")()

    @cache
    def value(state: Any, left: int) -> float:
        """The value for the hunter."""
        if game.is_terminal(state):
            return float(game.returns(state)[0])
        if left == 0:
            return 0.0
        values = [value(game.result(state, action), left - 1) for action in game.actions(state)]
        return max(values) if state[1] == 0 else min(values)

    asked = judge(game, "search", nodes=200, plugin=str(file), moves=moves)
    losing = 0
    for distance in range(1, game.ring):
        for action in game.actions((distance, 1)):
            if value(game.result((distance, 1), action), 29) > value((distance, 1), 30):
                losing += 1
                verdict = asked((distance, 1), action)
                assert verdict is None or verdict.grade != BEST
                if moves == 30 and distance == 1 and action == -1:
                    assert verdict is not None  # it steps onto the hunter
    assert losing == 6  # from each side, it steps onto the hunter, stays next to it, or steps next to it


@pytest.mark.parametrize(
    ("players", "zero_sum", "chance"), [(2, True, True), (2, False, False), (3, False, False), (1, False, False)]
)
def test_a_search_that_finds_no_difference_between_actions_gives_no_verdict(
    tmp_path: Path, players: int, zero_sum: bool, chance: bool
) -> None:
    """The game ends after 300 steps, beyond any search, and has no heuristic, so all actions look equal."""
    file = tmp_path / "chase.py"
    file.write_text(CHASE)
    game = load_plugins([str(file)]).game("dance")(players=players, zero_sum=zero_sum, chance=chance)
    asked = judge(game, "search", nodes=100, plugin=str(file), players=players, zero_sum=zero_sum, chance=chance)
    assert asked((0, 0), 0) is None
    assert asked((0, 0), 1) is None


def test_verdicts_use_the_move_limit_of_the_matches() -> None:
    """A match that ended at the limit shows the limit. Otherwise, the default of the game applies."""
    game = ConnectFour()
    ended = arena.play("connect-four", ["random", "random"], limits={"moves": 5})
    assert (ended.termination, ended.moves) == ("move-limit", 5)
    won = arena.play("connect-four", ["random", "random"])
    assert find_move_limit(game, [won, ended]) == 5
    assert find_move_limit(game, [won]) == Limits().moves == 1000


def test_a_game_with_simultaneous_moves_has_no_judge() -> None:
    """The output contains a line about this."""
    game = load_plugins().game("rock-paper-scissors")()
    board = JudgedBoard(Review(game, {"name": "rock-paper-scissors"}, (), 1000, 10), None)
    assert board.why_none() == "rock-paper-scissors has simultaneous moves, and no judge in this release supports such games"


EDGES = '''
from arena import Game, Puzzle, hookimpl


class Take(Game):
    """Seat 0 takes a number of at most 60."""

    name, zero_sum, min_return, max_return = "take-60", False, 0, 60

    def initial(self, rng):
        return "start"

    def to_move(self, state):
        return 0

    def actions(self, state):
        return tuple(range(61)) if state == "start" else ()

    def result(self, state, action):
        return str(action)

    def returns(self, state):
        return (float(state), 0.0)


class Slow(Game):
    """Seat 0 wins after three actions, or takes a part of the point at once."""

    name = "slow-win"

    def initial(self, rng):
        return ""

    def to_move(self, state):
        return len(state) % 2

    def actions(self, state):
        return {"": ("w", "9", "8", "7", "4", "3"), "w": ("w",), "ww": ("w",)}.get(state, ())

    def result(self, state, action):
        return state + action

    def returns(self, state):
        part = 1.0 if state[0] == "w" else int(state) / 10
        return (part, -part)


class Detour(Puzzle):
    """A way that costs a number of hundredths, and one that is longer by a tenth of it, or by a hundredth more."""

    name = "detour"

    def __init__(self, *, hundredths: int = 70):
        self.hundredths = hundredths

    def initial(self, rng):
        return "start"

    def actions(self, state):
        return ("short", "tenth", "more") if state == "start" else ()

    def result(self, state, action):
        return action

    def is_goal(self, state):
        return state != "start"

    def step_cost(self, state, action, successor):
        return (self.hundredths * 10 + {"short": 0, "tenth": self.hundredths, "more": self.hundredths + 1}[action]) / 1000


@hookimpl
def arena_games():
    return [Take, Slow, Detour]
'''


@pytest.fixture
def edges(tmp_path: Path) -> str:
    """The file of games with losses at the edges between the classes."""
    (tmp_path / "edges.py").write_text(EDGES)
    return str(tmp_path / "edges.py")


def test_a_loss_at_the_edge_of_a_class_is_classified_exactly(edges: str) -> None:
    """For the range 60, a tenth is 6 and three tenths are 18, without rounding errors."""
    asked = judge(load_plugins([edges]).game("take-60")(), "exact", plugin=edges)
    for lost in range(61):
        verdict = asked("start", 60 - lost)
        assert verdict is not None
        expected = BEST if lost == 0 else INACCURACY if lost < 6 else MISTAKE if lost < 18 else DECISIVE
        assert (verdict.loss, verdict.grade) == (lost, expected)


def test_a_later_win_does_not_lower_the_class_of_a_loss(edges: str) -> None:
    """The win comes after 3 plies, which searches count as a little less than 1. Two tenths are a tenth of the range."""
    asked = judge(load_plugins([edges]).game("slow-win")(), "exact", plugin=edges)
    found = [asked("", action) for action in ("w", "9", "8", "7", "4", "3")]
    assert [one and (one.loss, one.grade) for one in found] == [
        (0.0, BEST), (0.1, INACCURACY), (0.2, MISTAKE), (0.3, MISTAKE), (0.6, MISTAKE), (0.7, MISTAKE),
    ]  # fmt: skip


def test_a_regret_of_a_tenth_is_an_inaccuracy_for_every_cost(edges: str) -> None:
    """The test tries all costs in thousandths. A regret of at most a tenth of the optimal cost is an inaccuracy."""
    for hundredths in range(1, 101):
        asked = judge(load_plugins([edges]).game("detour")(hundredths=hundredths), "regret", plugin=edges, hundredths=hundredths)
        found = [asked("start", action) for action in ("short", "tenth", "more")]
        assert [one and one.grade for one in found] == [BEST, INACCURACY, MISTAKE], hundredths
