"""A second process that plays what a check has played, with other hashes of texts: what follows from them differs there.

`python -m arena_check.second_process PLUGIN...` loads plugins and answers lines of JSON: for [kind, name, game, seed, matches]
the position and the actions of each play, or null for what cannot be played.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from time import perf_counter
from typing import Self

from arena import Game
from arena.api.run import ChildLost, Helper, pack, serve, take_pipes
from arena.api.spec import Key, Registry, load_plugins, name_of
from arena.errors import Interrupted
from arena_check.agent_checks import agent_setups
from arena_check.finding import Finding, Violation
from arena_check.trial import Trial, walk
from arena_check.verdicts import Verdict

MAX_ANSWER_BYTES = 1 << 20
HASHES = "PYTHONHASHSEED"
"""The environment variable from which the hashes of texts follow."""
MAX_PLAYS = 2
"""The most plays that are compared."""
MAX_ACTIONS = 200
"""The most actions of a play of a game."""
ANSWER_SECONDS = 60.0
PROMISE = "what is chosen follows the order of a set, or the hash of a text"

Plays = list[list[str]]


class SecondProcess:
    """Starts when it is first asked, and ends with the block."""

    def __init__(self, registry: Registry, plugins: Sequence[str]) -> None:
        self._registry = registry
        self._plugins = plugins
        self._helper: Helper | None = None

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        if self._helper is not None:
            self._helper.end()

    def verdict(self, key: Key, game: Game, check: str, seed: int, matches: int) -> Verdict | None:
        """Compare plays of a game, or of an agent on it, with those of this process; None if they are the same.

        Nothing is said if they cannot be played, here or there: the other checks tell why.
        """
        question = key[0], key[1], name_of(game), seed, min(matches, MAX_PLAYS)
        with suppress(ChildLost, OSError):
            if self._helper is None:
                self._helper = Helper(
                    "arena_check.second_process", self._plugins, {HASHES: other_hashes()}, longest=MAX_ANSWER_BYTES
                )
            self._helper.post(question, perf_counter() + ANSWER_SECONDS)
            here = plays(self._registry, *question)
            there: Plays | None = self._helper.answer(perf_counter() + ANSWER_SECONDS)
            for number, (mine, other) in enumerate(zip(here or (), there or (), strict=False)):
                if mine != other:
                    return Verdict(check, PROMISE, _violation(key, game, check, seed + number, mine, other))
        return None


def other_hashes() -> str:
    """A value of PYTHONHASHSEED that is not that of this process."""
    return "2" if os.environ.get(HASHES) == "1" else "1"


def plays(registry: Registry, kind: str, name: str, game: str, seed: int, matches: int) -> Plays | None:
    """The position and the actions of some plays of a game, or of an agent on a game; None if they cannot be played."""
    try:
        if kind == "agent":
            (setup,) = agent_setups(name, game, registry)
            return setup.trace(seed, matches)
        found = []
        for number in range(matches):
            made = registry.game(game)()
            trial = Trial(name_of(made), seed, number)
            for _ in walk(made, trial, MAX_ACTIONS):
                pass
            found.append([trial.position or "", *trial.actions])
        return found
    except Interrupted:
        raise
    except BaseException:  # the plugin's own fault, whatever it raises
        return None


def _violation(key: Key, game: Game, check: str, seed: int, mine: Sequence[str], other: Sequence[str]) -> Violation:
    """The first difference of two plays."""
    same = next((n for n, pair in enumerate(zip(mine, other, strict=False)) if pair[0] != pair[1]), min(len(mine), len(other)))
    expected, got = ["".join(play[same : same + 1]) or "the end" for play in (mine, other)]
    subject = name_of(game) if key[0] == "game" else f"{key[1]} on {name_of(game)}"
    expected += f", as with {HASHES}={os.environ.get(HASHES, 'random')}"
    got += f", with {HASHES}={other_hashes()}"
    actions = tuple(mine[1:same])
    return Violation(Finding(subject, check, PROMISE, expected, got, seed, 1, mine[0], actions, len(actions)))


def main(plugins: Sequence[str]) -> None:
    """Answer until there are no more questions; what plugins print goes nowhere, since the first process has shown it."""
    pipes = take_pipes()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    registry = load_plugins(plugins)
    serve(lambda question: pack(plays(registry, *question)), *pipes)
    os._exit(0)  # whatever threads plugins have left


if __name__ == "__main__":
    main(sys.argv[1:])
