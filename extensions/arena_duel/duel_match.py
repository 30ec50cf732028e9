"""Plays one duel: two versions of an agent play pairs of games from random openings until a sequential test decides."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena import ArenaError, Spec, SpecError
from arena.api.cli import say
from arena.api.errors import Interrupted, StoreError
from arena.api.results import BoardInfo, figures, tallies_of
from arena.api.run import Fingerprint, MatchQueue, PlayedMatch, check_code, play_all
from arena.api.spec import load_spec
from arena.api.store import Run, Store
from arena_duel.contest_line import ContestLine
from arena_duel.decision_limits import DurationForecast
from arena_duel.llr_curve import LlrCurve
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
    it is new.
    """
    wanted = Run.of(spec).hash
    for _, one, other, place in folder.stores():
        if (one, other) == (new.number, old.number):
            with suppress(StoreError), Store.open(place) as store:
                if store.last().hash == wanted:
                    return place
    return folder.store(new, old)


def play_duel(spec: Spec, place: Path, workers: int, *, quiet: bool) -> int:
    """Play the missing games of a duel, show its curve on stderr, and return the number of these games.

    When the duel is interrupted, the Interrupted error says how to continue.
    """
    planned = Run.of(spec)
    place.parent.mkdir(parents=True, exist_ok=True)
    with Store.open(place, write=True) as store:
        try:
            known = check_code(store, spec, planned, say)
        except StoreError as error:
            what = str(error).partition(";")[0]
            remedy = "remove that file to play this duel again, or change the agent, because a new version has a new duel"
            raise ArenaError(f"{what}; {remedy}") from error
        store.begin(known)
        (tally,) = tallies_of(store, [BoardInfo.of(spec.boards[0])])
        feed = MatchQueue(spec, store)
        contest = spec.boards[0].format
        watch: LlrCurve | ContestLine = (
            ContestLine(contest, tally.sheet.labels, feed, sys.stderr, quiet=quiet)
            if isinstance(contest, BestOf)
            else LlrCurve(tally, spec.name, sys.stderr, quiet=quiet)
        )

        def expected_pairs() -> float | None:
            state = SprtState.of(tally.sheet, tally.matches, tally.returns.luck_by_round(0))
            if state is None or state.forecast is None:
                return None
            return min(max(state.forecast.under_h0, state.forecast.under_h1), spec.size / 2)

        duration = DurationForecast(workers, (lambda _: None) if quiet else say, expected_pairs)

        def note(played: PlayedMatch) -> None:
            watch.note(played)
            duration.note(played)

        try:
            with watch, duration:
                play_all(spec, feed, workers, note, code=planned.plugins, guarded=not Fingerprint.is_trusted(spec))
        except Interrupted:
            store.flush()
            say(f"\n{store.path} has {figures.amount(feed.held + feed.played, 'game')}; the same command continues from there")
            raise
        store.end(feed.rankings(), spec)
        return feed.played
