"""A second process that repeats the plays of a check with other string hashes. If the plays depend on string hashes, the second
process plays differently.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Self

from arena import Game, Registry, load_plugins
from arena.api.errors import Interrupted
from arena.api.games import name_of, settings
from arena.api.processes import PythonProcess
from arena.api.spec import Parameters
from arena.clock import perf_counter
from arena_catalog.catalogue import make_game
from arena_check.agent_checks import agent_setups
from arena_check.finding import Finding, Violation
from arena_check.trial import Trial, walk
from arena_check.verdicts import Verdict
from arena_isolation.child import ChildLost
from arena_isolation.helper_process import Helper, pack, serve

MAX_ANSWER_BYTES = 1 << 20
HASHES = "PYTHONHASHSEED"
"""Environment variable that determines string hashes."""
MAX_PLAYS = 2
"""Maximum number of plays that are compared."""
MAX_ACTIONS = 200
"""Maximum number of actions in a play of a game."""
ANSWER_SECONDS = 60.0
PROMISE = "the choice depends on the order of a set, or on the hash of a string"

Plays = list[list[str]]


class SecondProcess:
    """The second process. It starts at the first request, and ends at the end of the `with` block."""

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

    def verdict(self, key: tuple[str, ...], game: Game, check: str, seed: int, matches: int) -> Verdict | None:
        """Let the second process repeat the plays of a game, or of an agent in the game. Return a verdict if they differ from the
        plays in this process; None if they are the same.

        The result is also None if one of the processes cannot play, because the other checks report the reason.
        """
        changed = Parameters(type(game)).drop_defaults(settings(game))
        question = key[0], key[1], name_of(game), changed, seed, min(matches, MAX_PLAYS)
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
                    pairs = enumerate(zip(mine, other, strict=False))
                    same = next((n for n, pair in pairs if pair[0] != pair[1]), min(len(mine), len(other)))
                    expected, got = ["".join(play[same : same + 1]) or "the end" for play in (mine, other)]
                    subject = name_of(game) if key[0] == "game" else f"{key[1]} on {name_of(game)}"
                    expected += f", as with {HASHES}={os.environ.get(HASHES, 'random')}"
                    got += f", with {HASHES}={other_hashes()}"
                    actions = tuple(mine[1:same])
                    finding = Finding(subject, check, PROMISE, expected, got, seed + number, 1, mine[0], actions, len(actions))
                    return Verdict(check, PROMISE, Violation(finding))
        return None


def other_hashes() -> str:
    """Return a value of PYTHONHASHSEED that differs from the value of this process."""
    return "2" if os.environ.get(HASHES) == "1" else "1"


def plays(
    registry: Registry, kind: str, name: str, game: str, changed: Mapping[str, Any], seed: int, matches: int
) -> Plays | None:
    """Return the position and the actions of some plays of a game, or of an agent in the game; None if an exception prevents
    them. `changed` are the parameters of the game that do not have their defaults.
    """
    try:
        if kind == "agent":
            (setup,) = agent_setups(name, make_game(registry, game, changed), registry)
            return setup.trace(seed, matches)
        found = []
        for number in range(matches):
            made = make_game(registry, game, changed)
            trial = Trial(name_of(made), seed, number)
            for _ in walk(made, trial, MAX_ACTIONS):
                pass
            found.append([trial.position or "", *trial.actions])
        return found
    except Interrupted:
        raise
    except BaseException:  # a plugin may raise anything
        return None


def main(plugins: Sequence[str]) -> None:
    """Answer requests until there are no more. The output of plugins is discarded, because the first process has shown it."""
    pipes = PythonProcess.take_pipes()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    registry = load_plugins(plugins, broken=[])  # the first process has reported the faults
    serve(lambda question: pack(plays(registry, *question)), *pipes)
    os._exit(0)  # plugins may have left threads behind


if __name__ == "__main__":
    main(sys.argv[1:])
