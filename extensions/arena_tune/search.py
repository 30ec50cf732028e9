"""The search. Optuna and a model of all results propose generations of trials (options to try), and bad trials are dropped early.

All trials of a search play the same positions, beginning with the first one. Each generation is halved twice. Each time, the
better half plays as many positions again, so most games are played with good options. The result is not the trial that
happened to have the highest score, but the options that the model considers best, because the model uses the games of all
trials.

The search does not play matches itself, but calls a function. So tests can use a simulation, and results that are already in a
store are reused. The same results always lead to the same trials.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from arena import ArenaError
from arena.api.cli import install_command
from arena_tune.space import Options, Space
from arena_tune.surrogate import Model, fit

if TYPE_CHECKING:
    from optuna import Study

GENERATION = 8
"""The number of trials in a generation."""
FIRST_GENERATION = 12
HALVINGS = 2
SEARCH_UNITS = 90
"""The approximate ratio of the pairs in a search to the pairs that a trial plays before the first halving."""
MAX_FIRST_PAIRS = 32
"""The maximum number of pairs that a trial plays before the first halving."""
ANCHOR_GAMES = 400
"""The model is told that the default is as strong as itself. This counts as much as the result of this many games."""
MAX_ASKS = 3
"""Optuna is asked at most this many times for each trial of a generation, because it may repeat options that have been tried."""
POOL = 256
"""The number of points (options, encoded as numbers) from which the model chooses."""
NEAR = 0.08
"""Half of the points in the pool are within about this distance of the best points, as a share of the range of each option."""
JITTER_ELO = 1e-2
"""A small variance, in squares of Elo, that is added for each point. Without it, equal points would make the covariance matrix
singular.
"""
MISSING = "arena tune needs Optuna; install it with: {command}"

Play = Callable[[Sequence[Options], int], Any]
"""A function that plays the first positions with each trial. It returns a row of scores from 0 to 1 for each trial; NaN for a
void match. A score of 1/2 means that the trial is as good as its opponent.
"""


@dataclass(slots=True)
class Trial:
    """Options that have been tried."""

    number: int
    options: Options
    scores: Any = field(default_factory=lambda: np.empty(0))
    """The score at each position, beginning with the first one."""

    @property
    def share(self) -> float:
        """Return the mean score; 1/2 without any score."""
        known = self.scores[~np.isnan(self.scores)]
        return float(known.mean()) if len(known) else 0.5


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search."""

    options: Options
    gain: float
    """The Elo difference to the default that the model expects, based only on the positions of the search."""
    trials: list[Trial]


def import_optuna() -> Any:
    """Import Optuna and silence its messages. When it is missing, raise an ArenaError that says how to install it."""
    try:
        import optuna
    except ImportError as error:
        raise ArenaError(MISSING.format(command=install_command("tune"))) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def size_generations(pairs: int, different: float = inf) -> tuple[int, ...]:
    """Return the number of positions that a trial has played after each stage, for a search with `pairs` pairs.

    `different` is the number of different combinations of values. If there are only a few, each of them plays more positions.

    >>> size_generations(700)
    (8, 16, 32)
    """
    first = min(MAX_FIRST_PAIRS, max(1, round(pairs / min(SEARCH_UNITS, 2 * different))))
    return tuple([first << stage for stage in range(HALVINGS + 1)])


def longest_share(different: float) -> float:
    """Return approximately which share of all pairs in a search is played by the trial with the most pairs."""
    return float((1 << HALVINGS) / min(SEARCH_UNITS, 2 * different))


class Search:
    """A search through a space of options, generation after generation."""

    def __init__(
        self,
        space: Space,
        default: Options,
        play: Play,
        pairs: int,
        seed: int,
        *,
        rivals: bool = False,
        stages: tuple[int, ...] | None = None,
        positions: int | None = None,
    ) -> None:
        """Create a search with `pairs` pairs. With `rivals`, the opponents are agents other than the default, so the
        default plays against them, too.

        `positions` is the maximum number of positions for a trial; `stages` replaces the stages that are computed from `pairs`.
        """
        self._space, self._default, self._play, self._seed = space, default, play, seed
        self._pairs = self.left = pairs
        most = stages or size_generations(pairs, space.size)
        self.stages = tuple([min(stage, positions or stage) for stage in most])
        """The number of positions that a trial has played after each stage of its generation. No trial plays more than the last
        number.
        """
        self._rivals = rivals
        self._study: Study | None = None
        self.trials: list[Trial] = []
        self._known: dict[str, Trial] = {}
        self._generation = 0
        self._model: Model | None = None
        self._reference = Trial(-1, {name: default[name] for name in (one.name for one in space.dimensions) if name in default})
        """The default, restricted to the options that are searched."""

    def generations(self) -> Iterator[Found]:
        """Play generation after generation until the pairs are used up. After each generation, yield the result so far."""
        optuna = import_optuna()
        sampler = optuna.samplers.TPESampler(seed=self._seed, n_startup_trials=FIRST_GENERATION)
        self._study = optuna.create_study(direction="maximize", sampler=sampler)
        while self.left >= self.stages[0]:
            before = self.left
            self._play_generation(FIRST_GENERATION if self._generation == 0 else GENERATION)
            self._generation += 1
            self._model = self._fit()
            yield self.answer()
            if self.left == before:  # all options have been tried
                return

    def _play_generation(self, size: int) -> None:
        asked = self._ask(size)
        if self._rivals:
            self._play_stage([self._reference], self.stages[-1])
        alive = list({id(trial): trial for _, trial in asked if not len(trial.scores)}.values())
        for stage in self.stages:
            alive = alive[: max(1, self.left // stage)] if stage == self.stages[0] else alive
            self._play_stage(alive, stage)
            alive = sorted(alive, key=lambda one: (-one.share, one.number))[: max(1, len(alive) // 2)]
        assert self._study is not None
        for token, trial in asked:
            if len(trial.scores):
                self._study.tell(token, trial.share)

    def _play_stage(self, trials: Sequence[Trial], positions: int) -> None:
        """With each trial, play those of the first `positions` positions that it has not played yet, while pairs are left."""
        due, cost = [], 0
        for trial in trials:
            more = positions - len(trial.scores)
            if more > 0 and cost + more <= self.left:
                due.append(trial)
                cost += more
        if due:
            self.left -= cost
            for trial, scores in zip(due, self._play([one.options for one in due], positions), strict=True):
                trial.scores = np.asarray(scores, dtype=float)

    def _ask(self, size: int) -> list[tuple[Any, Trial]]:
        """Return trials, with the tokens by which Optuna identifies them. One half is proposed by Optuna, the other half by the
        model.
        """
        assert self._study is not None
        spaces = {one.name: one.distribution() for one in self._space.dimensions}
        proposed = [] if self._model is None else self._propose(size // 2)
        for options in proposed:
            raw = {one.name: one.raw_of(options[one.name]) for one in self._space.dimensions}
            self._study.enqueue_trial(raw)
        asked: list[tuple[Any, Trial]] = []
        new = 0
        for _ in range(MAX_ASKS * size):
            if new == size:
                break
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # warnings about features of Optuna that may still change
                token = self._study.ask(spaces)
            options = {
                one.name: one.choices[token.params[one.name]] if one.choices else one.tidy(token.params[one.name])
                for one in self._space.dimensions
            }
            trial = self._trial_of(options)
            new += not len(trial.scores) and all(trial is not other for _, other in asked)
            asked.append((token, trial))
        return asked

    def _trial_of(self, options: Options) -> Trial:
        """Return the trial for some options, which may have been tried before."""
        if options == self._reference.options and repr(options) == repr(self._reference.options):
            if not self._rivals and not len(self._reference.scores):
                self._reference.scores = np.full(self.stages[-1], 0.5)  # the default against itself
            return self._reference
        key = repr(sorted(options.items()))
        if key not in self._known:
            self._known[key] = Trial(len(self.trials), options)
            self.trials.append(self._known[key])
        return self._known[key]

    def _fit(self) -> Model | None:
        points, shares, games = [], [], []
        for trial in self.trials:
            point, played = self._space.encode(trial.options), int((~np.isnan(trial.scores)).sum())
            if point is not None and played:
                points.append(point)
                shares.append(trial.share)
                games.append(2.0 * played)
        anchor = self._space.encode(self._reference.options)
        if anchor is not None:
            points.append(anchor)
            shares.append(self._reference.share)
            games.append(2.0 * len(self._reference.scores) if self._rivals else ANCHOR_GAMES)
        return fit(np.array(points), np.array(shares), np.array(games)) if points else None

    def _pool(self, purpose: int) -> tuple[Any, Callable[[int], Options]]:
        """Return points from which the model chooses: some from the whole space, some near the best points, and all trials.

        The function that is returned gives the options for a point by its number.
        """
        assert self._model is not None
        rng = np.random.default_rng([self._seed, self._generation, purpose])
        width = len(self._space.dimensions)
        cube = rng.random((POOL, width))
        for _ in range(3):
            mean, _ = self._model.predict(self._space.encode_places(cube))
            best = cube[np.argsort(-mean)[: POOL // 8]]
            near = best[rng.integers(len(best), size=POOL // 2)] + NEAR * rng.standard_normal((POOL // 2, width))
            cube = np.concatenate([best, np.clip(near, 0, 1), rng.random((POOL // 4, width))])
        tried = [(one, point) for one in self.trials if (point := self._space.encode(one.options)) is not None]
        points = self._space.encode_places(cube)
        if tried:
            points = np.concatenate([points, np.array([point for _, point in tried])])
        return (
            points,
            lambda number: self._space.at(cube[number].tolist()) if number < len(cube) else tried[number - len(cube)][0].options,
        )

    def _propose(self, size: int) -> list[Options]:
        """Return the best options according to the model, and the best options according to functions that are drawn at random
        from the model.
        """
        assert self._model is not None
        points, options_of = self._pool(0)
        mean, spread = self._model.predict(points, spread=True)
        rng = np.random.default_rng([self._seed, self._generation, 1])
        root = np.linalg.cholesky(spread + JITTER_ELO * np.eye(len(points)))
        drawn = mean + (root @ rng.standard_normal((len(points), size - 1))).T
        return [options_of(int(np.argmax(one))) for one in (mean, *drawn)]

    def answer(self) -> Found:
        """Return the best options according to the model, and the difference to the default that the model expects."""
        played = [one for one in self.trials if len(one.scores)]
        if self._model is None or not played:
            return Found(dict(self._reference.options), 0.0, played)
        points, options_of = self._pool(2)
        mean, _ = self._model.predict(points)
        best = int(np.argmax(mean))
        base = 0.0
        anchor = self._space.encode(self._reference.options)
        if anchor is not None:
            base = float(self._model.predict(np.array([anchor]))[0][0])
        elif self._rivals:
            share = min(0.999, max(0.001, self._reference.share))
            base = float(400 * np.log10(share / (1 - share)))
        gain = float(mean[best]) - base
        assert isfinite(gain)
        return Found(options_of(best), gain, played)
