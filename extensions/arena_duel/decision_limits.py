"""Describes what the results of a duel depend on: the limits of decisions, random moves, and the sizes of returns."""

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

from arena import Game
from arena.api.results import figures
from arena.api.run import PlayedMatch
from arena.api.store import Store

LONG_GAME_SECONDS = 60.0
"""If a game takes longer than this, a line names `--limits`."""
REMEDY = "use --limits nodes=N or --limits seconds=S to limit each decision"


class DurationForecast(AbstractContextManager["DurationForecast"]):
    """Says once how long a game takes: after the first pair of games, or after LONG_GAME_SECONDS if that pair is not over.

    `say` gets the line. `pairs` returns the expected number of pairs after the first one; None if it is unknown. By default, no
    game has a limit, because a random action would replace the decision of an agent that is cut off before it has reported one.
    """

    def __init__(self, workers: int, say: Callable[[str], object], pairs: Callable[[], float | None] = lambda: None) -> None:
        self._workers, self._say, self._pairs = workers, say, pairs
        self._seconds: list[float] = []
        self._lock = threading.Lock()
        self._timer = threading.Timer(LONG_GAME_SECONDS, self.remind)
        self._timer.daemon = True
        self._warned = False

    def __enter__(self) -> Self:
        """Start the clock."""
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the clock."""
        self._timer.cancel()

    def remind(self) -> None:
        """Name `--limits` if no pair of games is over yet."""
        with self._lock:
            if len(self._seconds) < 2 and not self._warned:
                self._warned = True
                self._say(f"the first pair of games has taken {LONG_GAME_SECONDS:.0f} s so far; {REMEDY}")

    def note(self, played: PlayedMatch) -> None:
        """Take in a game. The second one gives the forecast."""
        with self._lock:
            self._seconds.append(sum(one.seconds for one in played.record.decisions))
            if len(self._seconds) != 2:
                return
            game = sum(self._seconds) / 2
            pairs = self._pairs()
            line = f"a game takes about {_span(game)}"
            if pairs is not None:
                whole = 2 * pairs * game / min(self._workers, 2 * pairs)
                line += f", so the decisions of about {figures.amount(round(pairs), 'pair')} may take {_span(whole)}"
            self._timer.cancel()
            self._say(f"{line}; {REMEDY}" if game > LONG_GAME_SECONDS and not self._warned else line)


def describe_drawn(limits: Mapping[str, Any], drawn: Mapping[str, float]) -> str | None:
    """Return a sentence with the limits and the share of random moves; None if no move was random.

    >>> describe_drawn({"nodes": 1000}, {"planner v2": 0.97})
    'Limits nodes=1000: 97.0 % of the moves of planner v2 were random, because no action was reported before the limit.'
    """
    if not drawn:
        return None
    shares = figures.listing([f"{figures.share(share)} of the moves of {label}" for label, share in drawn.items()])
    named = ",".join([f"{key}={value}" for key, value in limits.items()])
    return f"Limits {named}: {shares} were random, because no action was reported before the limit."


def _span(seconds: float) -> str:
    return f"{figures.figure(seconds)} s" if seconds < 10 else figures.span(seconds)


def describe_plies(plies: int) -> str:
    """Return how many random moves precede each game, as words.

    >>> describe_plies(1)
    'each pair begins with 1 random move'
    """
    return f"each pair begins with {plies or 'no'} random move{'s' * (plies != 1)}"


def describe_sizes(game: Game, place: Path) -> list[str]:
    """Return a line which says that the test does not count the sizes of returns, if those of the games in a store differ."""
    with Store.open(place) as store:
        found = store.query("SELECT DISTINCT returns FROM record WHERE termination <> 'void'")
        sizes = {abs(float(value)) for (returns,) in found for value in returns.split(",")} - {0.0}
    return ["The test counts only wins and draws, not the size of the returns."] if len(sizes) > 1 or not game.zero_sum else []
