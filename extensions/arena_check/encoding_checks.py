"""Checks of encodings: their shape and range, and whether equal observations give equal numbers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

from arena import CHANCE, Game, Refused, State, load_plugins
from arena.api.games import BoundEncoding, name_of
from arena.api.processes import user_interrupts
from arena_check.finding import Finding
from arena_check.minimal_actions import Reproduction
from arena_check.patience import CALL_SECONDS
from arena_check.trial import CheckLog, Trial, copy_value, given_game, play_matches, walk
from arena_check.verdicts import CheckSuite, Verdict

MAX_ACTIONS = 200
"""Maximum number of actions in one random play."""
CHECKS = {
    "shape": "it returns as many numbers as its shape requires, flat or nested",
    "range": "numbers are finite, and lie between low and high",
    "repeats": "equal observations have equal numbers, regardless of earlier calls, and encoding does not change them",
    "randomness": "no random number is used",
    "the game": "the game itself passes its checks",
}
"""Promises (properties to be checked) of an encoding; the keys are the names of their checks."""

Met = list[tuple[Trial, State, int, Any]]
"""Encoded observations, each with its seat and its numbers."""


@user_interrupts()
def check_encoding(
    target: Callable[..., Any] | str,
    game: Game | type[Game] | str,
    *,
    seed: int = 0,
    matches: int = 20,
    patience: float = CALL_SECONDS,
) -> tuple[str, ...]:
    """Encode the observations of every seat in `matches` random plays of `game`. Return the names of the checks, which are keys
    of CHECKS.

    `target` is the encoding. It gets only observations, so it cannot reveal hidden facts. One of the checks is that equal
    observations of a seat give equal numbers. No call may take longer than `patience` seconds. A broken promise raises Violation,
    an AssertionError. Its message gives the promise, as few preceding actions as possible, and a `seed` that reproduces the
    fault with one match.
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
    """Do as `check_encoding` does, but continue after a fault: yield a verdict for every promise."""
    suite = _suite(target, game, seed, matches, patience)
    with user_interrupts():
        yield from suite.verdicts()


@dataclass(frozen=True, slots=True)
class EncodingSetup:
    """An encoding and the game for its checks."""

    target: Callable[..., Any]
    subject: str
    game: Game


def _suite(
    target: Callable[..., Any] | str, game: Game | type[Game] | str, seed: int, matches: int, patience: float
) -> CheckSuite:
    made = given_game(game)
    if isinstance(target, str):
        target = load_plugins().encoding(name_of(made), target)
    info = BoundEncoding.info_of(target)
    if info is None:
        raise TypeError(f"target: expected a function or class decorated with @encoding, got {target!r}")
    if info.game != name_of(made):
        raise Refused(f"encoding {info.name} belongs to {info.game}, not to {name_of(made)}")
    setup = EncodingSetup(target, f"{info.name} of {info.game}", made)

    def reproduce(finding: Finding) -> Reproduction:
        position = made.initial(Trial(finding.subject, finding.seed, 0).rng)
        bound = BoundEncoding.bind(setup.target, made)
        return Reproduction(made, position, lambda trial, state: _check_state(made, bound, trial, state, []))

    return CheckSuite(partial(_play, setup), reproduce, CHECKS, seed, matches, patience)


def _play(setup: EncodingSetup, seed: int, matches: int, log: CheckLog) -> None:
    start = Trial(setup.subject, seed, 0, log, check="shape")
    with start.own_randomness("the encoding"):
        bound, afresh = [start.call("making the encoding", BoundEncoding.bind, setup.target, setup.game) for _ in range(2)]
    game = setup.game
    met: Met = []

    def check_play(trial: Trial) -> None:
        _check_state(game, bound, trial, game.initial(trial.rng), met)
        for before, action, successor in walk(game, trial, MAX_ACTIONS):
            with trial.after(trial.text(game, before, action)):
                _check_state(game, bound, trial, successor, met)

    play_matches(start, matches, "the encoding", check_play)
    for trial, observation, seat, numbers in reversed(met):
        with trial.checking("repeats"):
            _expect_same(afresh, trial, observation, seat, numbers, "when nothing was encoded before")


def _check_state(game: Game, bound: BoundEncoding, trial: Trial, state: State, met: Met) -> None:
    """Encode the observation of every seat in a state, unless it is the turn of chance."""
    import numpy as np

    if not game.is_terminal(state) and game.to_move(state) == CHANCE:
        return
    for seat in range(game.players):
        observation = game.observation(state, seat)
        with trial.checking("shape"):
            numbers = _array(bound, trial, observation, seat)
            met.append((trial.now(), observation, seat, numbers))
            fits = numbers.shape in (bound.shape, (prod(bound.shape),))
            trial.expect(
                fits,
                f"{bound.name} of seat {seat} must have the shape of the encoding",
                f"{bound.shape}, or as many numbers in a flat list",
                numbers.shape,
            )
            with trial.checking("range"):
                outside = numbers[~(np.isfinite(numbers) & (numbers >= bound.low) & (numbers <= bound.high))]
                expected = f"numbers from {bound.low:g} to {bound.high:g}"
                trial.expect(not outside.size, f"{bound.name} of seat {seat} must be in range", expected, outside[:1].tolist())
            with trial.checking("repeats"):
                _expect_same(bound, trial, copy_value(observation), seat, numbers, "the second time")
                trial.expect(
                    observation == game.observation(state, seat), "encoding changes the observation", "the same", observation
                )


def _array(bound: BoundEncoding, trial: Trial, observation: State, seat: int) -> Any:
    import numpy as np

    given = trial.call(f"{bound.name} of seat {seat}", bound.encode, observation, seat)
    return trial.call(f"the numbers of {bound.name}", lambda: np.asarray(given, dtype=float).copy())


def _expect_same(bound: BoundEncoding, trial: Trial, observation: State, seat: int, numbers: Any, when: str) -> None:
    import numpy as np

    again = _array(bound, trial, observation, seat)
    same = np.array_equal(numbers, again)
    trial.expect(
        same, f"{bound.name} of seat {seat} gives different numbers {when}", numbers.ravel().tolist(), again.ravel().tolist()
    )
