"""A second process that plays what a check has played, with other hashes of texts: what follows from them differs there.

`python -m arena.testing.second_process PLUGIN...` loads plugins and answers lines of JSON: for [kind, name, game, seed, matches]
the position and the actions of each play, or null for what cannot be played.
"""

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from time import perf_counter
from typing import Self

from arena.configured import name_of
from arena.errors import Interrupted
from arena.game import Game
from arena.plugins.registry import Key, Registry
from arena.plugins.sources import load_plugins
from arena.processes.child import ChildLost, ChildProcess, python_environment
from arena.testing.agent_checks import agent_setups
from arena.testing.finding import Finding, Violation
from arena.testing.trial import Trial, walk
from arena.testing.verdicts import Verdict

HASHES = "PYTHONHASHSEED"
"""The environment variable from which the hashes of texts follow."""
PLAYS = 2
"""The most plays that are compared."""
LONGEST_WALK = 200
"""The most actions of a play of a game."""
SECONDS = 60.0
"""Seconds that the answer is waited for."""
PROMISE = "what is chosen follows the order of a set, or the hash of a text"

Plays = list[list[str]]


class SecondProcess:
    """Starts when it is first asked, and ends with the block."""

    def __init__(self, registry: Registry, plugins: Sequence[str]) -> None:
        self._registry = registry
        self._plugins = plugins
        self._child: ChildProcess | None = None

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        if self._child is not None:
            self._child.end()

    def verdict(self, key: Key, game: Game, check: str, seed: int, matches: int) -> Verdict | None:
        """Compare plays of a game, or of an agent on it, with those of this process; None if they are the same.

        Nothing is said if they cannot be played, here or there: the other checks tell why.
        """
        question = key[0], key[1], name_of(game), seed, min(matches, PLAYS)
        with suppress(ChildLost, OSError):
            child = self._child = self._child or self._started()
            child.send(json.dumps(question).encode() + b"\n", perf_counter() + SECONDS)
            here = plays(self._registry, *question)
            there: Plays | None = json.loads(child.receive(perf_counter() + SECONDS))
            for number, (mine, other) in enumerate(zip(here or (), there or (), strict=False)):
                if mine != other:
                    return Verdict(check, PROMISE, _violation(key, game, check, seed + number, mine, other))
        return None

    def _started(self) -> ChildProcess:
        environment = {**python_environment(), HASHES: other_hashes()}
        command = [sys.executable, "-P", "-m", "arena.testing.second_process", *self._plugins]
        return ChildProcess(command, os.getcwd(), 0, environment)  # noqa: PTH109 - a text is wanted


def other_hashes() -> str:
    """A value of PYTHONHASHSEED that is not that of this process."""
    return "2" if os.environ.get(HASHES) == "1" else "1"


def plays(registry: Registry, kind: str, name: str, game: str, seed: int, matches: int) -> Plays | None:
    """The position and the actions of some plays of a game, or of an agent on a game; None if they cannot be played."""
    try:
        if kind == "agent":
            (setup,) = agent_setups(name, game, registry)
            return setup.trace(seed, matches)
        return [_walked(registry.game(game)(), seed, number) for number in range(matches)]
    except Interrupted:
        raise
    except BaseException:  # the plugin's own fault, whatever it raises
        return None


def _walked(game: Game, seed: int, number: int) -> list[str]:
    trial = Trial(name_of(game), seed, number)
    for _ in walk(game, trial, LONGEST_WALK):
        pass
    return [trial.position or "", *trial.actions]


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
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    registry = load_plugins(plugins)
    for question in questions:
        answers.write(json.dumps(plays(registry, *json.loads(question))).encode() + b"\n")
        answers.flush()
    os._exit(0)  # whatever threads plugins have left


if __name__ == "__main__":
    main(sys.argv[1:])
