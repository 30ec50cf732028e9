"""Compiled random play has the same actions, returns and random numbers as the plain loop."""

import random
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from typing import Any

import pytest

from arena import CHANCE, Game
from arena.compiled import playouts
from arena_compiled import seam
from arena_games.backgammon import Backgammon
from arena_games.connect_four import ConnectFour
from arena_games.pig import Pig, RaceRules
from arena_games.tic_tac_toe import TicTacToe
from arena_games.twenty_forty_eight import TwentyFortyEight
from tests.extensions.compiled.test_editions import Nim

GAMES: dict[str, tuple[Game, int]] = {
    "tic-tac-toe": (TicTacToe(), 300),
    "connect-four": (ConnectFour(), 30),
    "nim": (Nim(), 30),
    "pig": (Pig(), 300),
    "2048": (TwentyFortyEight(), 20),
    "2048 of 2 x 3": (TwentyFortyEight(rows=2, columns=3), 100),
    "backgammon": (Backgammon(), 100),
}
"""Each game has the number of matches that are played to the end."""


def plain(game: Game, state: Any, rng: random.Random, most: int | None) -> tuple[list[Any], Any, Any]:
    """Play one match by an independent loop. Return the actions, the returns if the match is over, and the last state."""
    taken: list[Any] = []
    while not game.is_terminal(state) and (most is None or len(taken) < most):
        if game.to_move(state) == CHANCE:
            outcomes, number = game.chance_outcomes(state), rng.random()
            sums = list(accumulate([odds for _, odds in outcomes]))
            taken.append(outcomes[min(sum([reached <= number for reached in sums]), len(sums) - 1)][0])
        else:
            taken.append(rng.choice(game.actions(state)))
        state = game.result(state, taken[-1])
    return taken, tuple(game.returns(state)) if game.is_terminal(state) else None, state


@pytest.fixture(scope="module", autouse=True)
def compiling(compiler: None) -> Iterator[None]:
    """Compile all code on request, once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARENA_COMPILE", "always")
        patch.delenv("ARENA_PLAIN", raising=False)
        yield
    seam._pairs.clear()


@cache
def start(game: Game) -> Any:
    """Return the start state of the matches."""
    return game.initial(random.Random(5))


def same(game: Game, matches: int, most: int | None, seed: int = 7) -> list[Any]:
    """Play compiled and by a plain loop, assert that both agree, and return the matches."""
    rng, other = random.Random(seed), random.Random(seed)
    found = playouts(game, start(game), rng, matches, most=most, actions=True)
    loop = seam.find_unmetered_loop(game, "random", rng)
    assert loop is not None, [pair.reason for pair in seam._pairs.values()]
    for one in found:
        taken, returns, last = plain(game, start(game), other, most)
        assert (one.plies, one.returns, list(one.actions or ())) == (len(taken), returns, taken)
        assert one.words == loop.edition.encode(last)
    assert len(found) == matches
    assert rng.random() == other.random()
    return found


@pytest.mark.parametrize("name", GAMES)
def test_compiled_random_play_agrees_with_a_plain_loop(name: str) -> None:
    """Matches are cut off after each number of plies from 0 up, or played to the end."""
    game, matches = GAMES[name]
    for most in [*range(12), 40]:
        same(game, 3, most)
    assert all(one.returns is not None for one in same(game, matches, None))


def test_plain_play_gives_the_same_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    fast, plain = random.Random(3), random.Random(3)
    played = playouts(ConnectFour(), (0, 0, 0), fast, 10)
    assert played[0].actions is None
    monkeypatch.setenv("ARENA_PLAIN", "1")
    assert playouts(ConnectFour(), (0, 0, 0), plain, 10) == played
    assert fast.getstate() == plain.getstate()


def test_random_tic_tac_toe_has_the_known_results() -> None:
    """x wins 58.5 % of random matches and o wins 28.8 %, by a count over the whole tree of the game."""
    found = playouts(TicTacToe(), (0, 0), random.Random(1), 100_000)
    assert sum(one.returns == (1.0, -1.0) for one in found) / 1e5 == pytest.approx(0.585, abs=0.01)
    assert sum(one.returns == (-1.0, 1.0) for one in found) / 1e5 == pytest.approx(0.288, abs=0.01)


class Crooked(Pig):
    """A game with rules that throw a 1 a little too often."""

    def compiled(self) -> RaceRules:
        rules = super().compiled()
        rules.reached = (rules.reached[0] + 2**-50, *rules.reached[1:])
        return rules


def test_rules_with_wrong_probabilities_are_refused() -> None:
    """In the game, the random number 1/6 gives a 2, so these rules are wrong and the plain game is played."""
    game, rng, other = Crooked(), random.Random(2), random.Random(2)
    assert [one.plies for one in playouts(game, game.initial(rng), rng, 5)] == [
        len(plain(game, game.initial(other), other, None)[0]) for _ in range(5)
    ]
    assert seam.find_unmetered_loop(game, "random", rng) is None
    assert "chance with 0.16666666666666666" in str(seam._pair(game, None, "random").reason)


def test_a_state_that_needs_more_than_64_bits_is_played_by_plain_python() -> None:
    game, rng, other = Pig(target=10_000), random.Random(2), random.Random(2)
    state = (0, False, 2**70, 0, 0)
    found = playouts(game, state, rng, 3, actions=True)
    assert [list(one.actions or ()) for one in found] == [plain(game, state, other, None)[0] for _ in range(3)]
    assert rng.random() == other.random()
