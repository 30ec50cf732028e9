"""The agent that plays a strategy of the Axelrod library. The strategy sees every turn of the match once."""

from typing import Any, ClassVar

from arena import Action, Agent, Game, Hints, Search, State
from arena.api.games import settings
from arena_bridges.axelrod.strategies import find_strategy
from arena_bridges.extras import library


class AxelrodStrategy(Agent):
    """Plays a strategy of the Axelrod library with its default parameters. `strategy` is the name of its class, such as
    TitForTat.

    As in the library, the strategy knows the payoffs, the number of turns and the noise. A strategy that draws random numbers is
    seeded from the stream of its seat, so its choices depend only on the stream and the history.
    """

    name = "axelrod"
    games: ClassVar[frozenset[str]] = frozenset({"prisoners-dilemma"})
    copes: ClassVar[frozenset[str]] = frozenset({"chance", "hidden-information"})
    hints = Hints(uses_heuristic=False)

    def __init__(self, *, strategy: str) -> None:
        self._kind = find_strategy(strategy)
        self._seed: int | None = None
        self._player: Any = None
        self._other: Any = None
        self._shown: tuple[str, str] = ("", "")
        self._chosen: str | None = None

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return C or D. The strategy is asked once for each turn; if it has missed turns, it is also asked for these."""
        rules: Any = game
        seat = game.to_move(state)
        own, other = rules.history(state, seat), rules.history(state, 1 - seat)
        goes_on = all(now.startswith(shown) for shown, now in zip(self._shown, (own, other), strict=True))
        if self._player is None or not goes_on:
            self._begin(game, search)
        for turn in range(len(self._shown[0]), len(own)):
            self._ask()
            # show the strategy the actions of the turn, which noise may have flipped
            action = library("axelrod", "axelrod").Action
            mine, theirs = action.from_char(own[turn]), action.from_char(other[turn])
            self._player.update_history(mine, theirs)
            self._other.update_history(theirs, mine)
            self._shown, self._chosen = (self._shown[0] + own[turn], self._shown[1] + other[turn]), None
        return self._ask()

    def _begin(self, game: Game, search: Search) -> None:
        """Create a new player of the strategy, without any history."""
        axelrod = library("axelrod", "axelrod")
        parameters = settings(game)
        both, neither, cooperator, defector = parameters["payoffs"]
        self._player, self._other = self._kind(), axelrod.Player()
        if self._seed is None:
            self._seed = search.rng.getrandbits(31) if axelrod.Classifiers["stochastic"](self._player) else 0
        self._player.set_seed(self._seed)
        self._player.set_match_attributes(
            length=parameters["turns"],
            game=axelrod.Game(r=both, s=cooperator, t=defector, p=neither),
            noise=parameters["noise"],
        )
        self._shown, self._chosen = ("", ""), None

    def _ask(self) -> str:
        """Return the action of the strategy in the current turn. The strategy is asked only once, as its state may change."""
        if self._chosen is None:
            self._chosen = str(self._player.strategy(self._other))
        return self._chosen
