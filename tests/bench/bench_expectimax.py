"""How far expectimax comes in 2048 with the heuristic `snake`."""

from typing import TYPE_CHECKING, Any

import arena
from arena import Game, Search
from arena_agents.full_width import Expectimax
from arena_games.twenty_forty_eight import Snake, TwentyFortyEight

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

GAMES = 50


class UpTo512(Expectimax):
    """Plays until there is a 512. Then it returns no legal action, which ends the match and saves time."""

    name = "up-to-512"

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        """Return the action of expectimax, or None if there is a tile of 512."""
        return None if any(512 in row for row in state[0]) else super().choose(game, state, search)


def test_the_share_of_games_in_which_depth_two_reaches_512(bench: "Bench") -> None:
    """The share comes from fifty games with different seeds."""
    game = TwentyFortyEight()
    reached = [
        arena.play(game, [UpTo512()], heuristics=Snake, seed=seed).termination == "illegal-action" for seed in range(GAMES)
    ]
    bench.at_least(
        0.8, "2048: share of games in which expectimax depth 2 reaches 512", sum(reached) / GAMES, "", games=str(GAMES)
    )
