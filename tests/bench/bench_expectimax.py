"""How far expectimax comes at 2048, by the heuristic `snake`."""

from typing import TYPE_CHECKING, Any

import arena
from arena import Game, Search
from arena_agents.full_width import Expectimax
from arena_games.twenty_forty_eight import Snake, TwentyFortyEight

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

GAMES = 50


class UpTo512(Expectimax):
    """Plays until there is a 512, and gives no action then, so that nothing is searched for no purpose."""

    name = "up-to-512"

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        """Return what expectimax plays; None with a tile of 512."""
        return None if any(512 in row for row in state[0]) else super().choose(game, state, search)


def test_the_share_of_games_in_which_depth_two_reaches_512(bench: "Bench") -> None:
    """Fifty games from fifty seeds."""
    game = TwentyFortyEight()
    reached = [
        arena.play(game, [UpTo512()], heuristics=Snake, seed=seed).termination == "illegal-action" for seed in range(GAMES)
    ]
    bench.at_least(
        0.8, "2048: share of games in which expectimax depth 2 reaches 512", sum(reached) / GAMES, "", games=str(GAMES)
    )
