"""Checks of encodings: their shape and range, and that equal observations have equal numbers."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

from arena import CHANCE, Game, Refused, State
from arena.api.spec import BoundEncoding, bind_encoding, load_plugins, name_of
from arena.encoding import encoding_info_of
from arena.processes.interrupts import user_interrupts
from arena_check.finding import Abandoned, Finding
from arena_check.minimal_actions import Reproduction
from arena_check.patience import CALL_SECONDS
from arena_check.trial import CheckLog, Trial, copy_value, given_game, walk
from arena_check.verdicts import CheckSuite, Verdict

MAX_ACTIONS = 200
"""Actions of one random play."""
CHECKS = {
    "shape": "it gives as many numbers as its shape has, flat or nested",
    "range": "numbers are finite, and within low and high",
    "repeats": "equal observations have equal numbers, whatever was encoded before, and stay as they are",
    "randomness": "no random number is used",
    "the game": "the game itself does what it must",
}
"""The promises of an encoding, by the names of their checks."""

Met = list[tuple[Trial, State, int, Any]]
"""Observations that were encoded, each with its seat and its numbers."""


@user_interrupts()
def check_encoding(
    target: Callable[..., Any] | str,
    game: Game | type[Game] | str,
    *,
    seed: int = 0,
    matches: int = 20,
    patience: float = CALL_SECONDS,
) -> tuple[str, ...]:
    """Encode what every seat of `game` observes in `matches` random plays; return the checks that were made, some of CHECKS.

    `target` is the encoding. It is given observations alone, so what a seat may not see it cannot tell; checked is that equal
    observations of a seat have equal numbers. No call may take longer than `patience` seconds. Violation, an AssertionError,
    tells the broken promise with the actions before it, as few as could be found, and the seed that shows it again with one
    match.
    """
    return tuple([name for name in _suite(target, game, seed, matches, patience).passed() if name != "the game"])


def encoding_verdicts(
    target: Callable[..., Any] | str,
    game: Game | type[Game] | str,
    *,
    seed: int = 0,
    matches: int = 20,
    patience: float = CALL_SECONDS,
) -> Iterator[Verdict]:
    """Do as `check_encoding` does, but go on after a fault: yield a verdict for every promise."""
    suite = _suite(target, game, seed, matches, patience)
    with user_interrupts():
        yield from suite.verdicts()


@dataclass(frozen=True, slots=True)
class EncodingSetup:
    """An encoding and the game that it is checked on."""

    target: Callable[..., Any]
    subject: str
    game: Game


def _suite(
    target: Callable[..., Any] | str, game: Game | type[Game] | str, seed: int, matches: int, patience: float
) -> CheckSuite:
    made = given_game(game)
    if isinstance(target, str):
        target = load_plugins().encoding(name_of(made), target)
    info = encoding_info_of(target)
    if info is None:
        raise TypeError(f"expected a function or class decorated with @encoding, got {target!r}")
    if info.game != name_of(made):
        raise Refused(f"encoding {info.name} belongs to {info.game}, not to {name_of(made)}")
    setup = EncodingSetup(target, f"{info.name} of {info.game}", made)

    def reproduce(finding: Finding) -> Reproduction:
        position = made.initial(Trial(finding.subject, finding.seed, 0).rng)
        bound = bind_encoding(setup.target, made)
        return Reproduction(made, position, lambda trial, state: _check_state(made, bound, trial, state, []))

    return CheckSuite(partial(_play, setup), reproduce, CHECKS, seed, max(1, matches), patience)


def _play(setup: EncodingSetup, seed: int, matches: int, log: CheckLog) -> None:
    start = Trial(setup.subject, seed, 0, log, check="shape")
    with start.own_randomness("the encoding"):
        bound, afresh = [start.call("the encoding cannot be made", bind_encoding, setup.target, setup.game) for _ in range(2)]
    met: Met = []
    for number in range(matches):
        trial = Trial(setup.subject, seed, number, log, check="the game")
        with suppress(Abandoned):
            with trial.own_randomness("the encoding"):
                trial.call("a method of the game", _check_play, setup.game, bound, trial, met)
            log.passed.add("the game")
    for trial, observation, seat, numbers in reversed(met):
        with trial.checking("repeats"):
            _expect_same(afresh, trial, observation, seat, numbers, "when nothing was encoded before")


def _check_play(game: Game, bound: BoundEncoding, trial: Trial, met: Met) -> None:
    state = game.initial(trial.rng)
    _check_state(game, bound, trial, state, met)
    for before, action, successor in walk(game, trial, MAX_ACTIONS):
        with trial.after(trial.text(game, before, action)):
            _check_state(game, bound, trial, successor, met)


def _check_state(game: Game, bound: BoundEncoding, trial: Trial, state: State, met: Met) -> None:
    """Encode what every seat sees of a state in which a seat decides, or of the end."""
    import numpy as np

    if not game.is_terminal(state) and game.to_move(state) == CHANCE:
        return
    for seat in range(game.players):
        observation = game.observation(state, seat)
        with trial.checking("shape"):
            numbers = _array(bound, trial, observation, seat)
            met.append((trial.now(), observation, seat, numbers))
            fits = numbers.shape in (bound.shape, (prod(bound.shape),))
            trial.expect(fits, f"{bound.name} of seat {seat} has its shape", f"{bound.shape}, or as many numbers", numbers.shape)
            with trial.checking("range"):
                outside = numbers[~(np.isfinite(numbers) & (numbers >= bound.low) & (numbers <= bound.high))]
                expected = f"numbers from {bound.low:g} to {bound.high:g}"
                trial.expect(not outside.size, f"{bound.name} of seat {seat} is in range", expected, outside[:1].tolist())
            with trial.checking("repeats"):
                _expect_same(bound, trial, copy_value(observation), seat, numbers, "the second time")
                trial.expect(observation == game.observation(state, seat), "the observation is changed", "the same", observation)


def _array(bound: BoundEncoding, trial: Trial, observation: State, seat: int) -> Any:
    import numpy as np

    given = trial.call(f"{bound.name} of seat {seat}", bound.encode, observation, seat)
    return trial.call(f"the numbers of {bound.name}", lambda: np.asarray(given, dtype=float).copy())


def _expect_same(bound: BoundEncoding, trial: Trial, observation: State, seat: int, numbers: Any, when: str) -> None:
    import numpy as np

    again = _array(bound, trial, observation, seat)
    same = np.array_equal(numbers, again)
    trial.expect(
        same, f"{bound.name} of seat {seat} gives other numbers {when}", numbers.ravel().tolist(), again.ravel().tolist()
    )
