"""Plays one duel: two versions of an agent play pairs of games from random openings until a sequential test decides."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from arena import ArenaError, Spec, SpecError
from arena.api.cli import LiveLine, say
from arena.api.errors import Interrupted, StoreError
from arena.api.results import BoardInfo, figures, tallies_of
from arena.api.run import Fingerprint, MatchQueue, Monitor, PlayedMatch, RunSettings, play_tournament
from arena.api.spec import load_spec
from arena.api.store import Run, Store
from arena.clock import monotonic
from arena_duel.decision_limits import DurationForecast
from arena_duel.llr_curve import FRAME_SECONDS, LlrCurve
from arena_duel.version_folder import KeptVersion, VersionFolder
from arena_pairings.best_of import BestOf
from arena_pairings.sprt_state import SprtState

_OPTIONS = {"limits": "--limits", "game": "--game", "format": "--elo", "openings": "--openings", "rounds": "--pairs"}
"""The command-line option that sets each key of the spec (the tournament file)."""


@dataclass(frozen=True, slots=True)
class DuelTerms:
    """The conditions under which two versions play."""

    agent: str
    game: Mapping[str, Any]
    """The name and the parameters of the game."""
    elo: tuple[float, float]
    limits: Mapping[str, Any]
    plies: int
    seed: int
    pairs: int | None
    plugins: tuple[str, ...]

    def spec(self, new: KeptVersion, old: KeptVersion) -> Spec:
        """Return the spec of the duel. If an option is wrong, an ArenaError names it."""
        keys = {
            "name": f"{self.agent} {new.name} against {old.name}",
            "game": dict(self.game),
            "format": {"name": "head-to-head", "test": {"sprt": {"elo0": self.elo[0], "elo1": self.elo[1]}}},
            "agents": [
                {"agent": self.agent, "version": str(one.file), "label": f"{self.agent} {one.name}"} for one in (new, old)
            ],
            "seed": self.seed,
            **({"limits": dict(self.limits)} if self.limits else {}),
            **({"openings": {"plies": self.plies}} if self.plies else {}),
            **({"rounds": self.pairs} if self.pairs else {}),
        }
        return load_terms(keys, self.plugins, _OPTIONS)


def load_terms(keys: Mapping[str, Any], plugins: Sequence[str], options: Mapping[str, str]) -> Spec:
    """Return the spec with these keys. If a key is wrong, an ArenaError names the option of the command that sets it."""
    try:
        return load_spec(dict(keys), plugins=plugins)
    except SpecError as error:
        lines = []
        for fault in error.faults:
            head, _, rest = fault.where.partition(".")
            place = f"{options[head]}: {rest}".removesuffix(": ") if head in options else fault.where
            lines.append(f"{place}: {fault.message}")
        raise ArenaError("\n".join(lines)) from error


def store_of(folder: VersionFolder, spec: Spec, new: KeptVersion, old: KeptVersion) -> Path:
    """Return the path for the store of a duel. If a duel with the same conditions has begun already, this is its store; otherwise
    it is new. A store without a run is left from an interrupted start, and is used.
    """
    wanted = Run.of(spec).hash
    for _, one, other, place in folder.stores():
        if (one, other) == (new.number, old.number):
            with suppress(StoreError), Store.open(place) as store:
                if not store.runs() or store.last().hash == wanted:
                    return place
    return folder.store(new, old)


class ContestLine(AbstractContextManager["ContestLine"]):
    """The status line of a contest: the number of games, the time, and the names of the agents that are still in the contest.

    On a terminal, the line is updated in place; elsewhere, new lines are printed at intervals.
    """

    def __init__(self, contest: BestOf, labels: Sequence[str], feed: MatchQueue, stream: IO[str], *, quiet: bool = False) -> None:
        self._contest, self._labels, self._feed = contest, labels, feed
        self._line = LiveLine(stream, wanted=not quiet, in_file=True)
        self._began = self._shown = monotonic()

    def __exit__(self, *_: object) -> None:
        """Clear the line on the terminal."""
        self._line.show("")

    def note(self, played: PlayedMatch) -> None:
        """Count a match that has just been played."""
        now = monotonic()
        if now - self._shown < FRAME_SECONDS:
            return
        self._shown = now
        left = list(self._labels)
        if self._contest.contest is not None:
            left = [label for label, still in zip(left, self._contest.contest.is_in[0], strict=True) if still]
        games = figures.amount(self._feed.held + self._feed.played, "game")
        self._line.show(f"{games}, {figures.span(now - self._began)}, still in: {', '.join(left)}")


class ShownDuel(Monitor):
    """Shows the curve of a duel, or the line of a contest, on stderr."""

    queue: MatchQueue | None = None
    """The games of the duel; None until its store is ready."""
    _curve: LlrCurve | ContestLine

    def __init__(self, spec: Spec, workers: int, *, quiet: bool) -> None:
        super().__init__()
        self._spec, self._quiet = spec, quiet
        self._duration = DurationForecast(workers, (lambda _: None) if quiet else say, self._expect_pairs)

    def note(self, text: str) -> None:
        """Print a line."""
        say(text)

    def warn(self, text: str) -> None:
        """Print a warning."""
        say(f"warning: {text}")

    @contextmanager
    def follow(self, queue: MatchQueue, _staff: Callable[[], str] | None) -> Iterator[None]:
        """Show the curve inside the block."""
        self.queue, contest = queue, self._spec.boards[0].format
        (self._tally,) = tallies_of(queue.store, [BoardInfo.of(self._spec.boards[0])])
        if isinstance(contest, BestOf):
            self._curve = ContestLine(contest, self._tally.sheet.labels, queue, sys.stderr, quiet=self._quiet)
        else:
            self._curve = LlrCurve(self._tally, self._spec.name, sys.stderr, quiet=self._quiet)
        with self._curve, self._duration:
            yield

    def observe(self, one: PlayedMatch) -> None:
        """Count a game."""
        self._curve.note(one)
        self._duration.note(one)

    def _expect_pairs(self) -> float | None:
        state = SprtState.of(self._tally.sheet, self._tally.matches, self._tally.returns.luck_by_round(0))
        if state is None or state.forecast is None:
            return None
        return min(max(state.forecast.under_h0, state.forecast.under_h1), self._spec.size / 2)


def play_duel(spec: Spec, place: Path, workers: int, *, quiet: bool) -> int:
    """Play the missing games of a duel, show its curve on stderr, and return the number of these games.

    When the duel is interrupted, the Interrupted error says how to continue.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    remedy = "remove that file to play this duel again, or change the agent to start a duel with the new version"
    shown = ShownDuel(spec, workers, quiet=quiet)
    settings = RunSettings(workers=workers, guarded=not Fingerprint.is_trusted(spec), remedy=remedy)
    try:
        play_tournament(spec, place, settings, shown)
    except Interrupted:
        if (queue := shown.queue) is not None:
            say(f"\n{place} has {figures.amount(queue.held + queue.played, 'game')}; run the same command again to continue")
        raise
    return 0 if shown.queue is None else shown.queue.played
