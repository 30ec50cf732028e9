"""The matches of a tuning. A tuning consists of a search, in which trials (options to try) play in stages, and a
confirmation.

The store of a tuning has a run for each stage of the search, followed by the runs of the confirmation.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from math import log2, tanh
from pathlib import Path
from typing import Any, Self

import numpy as np

from arena import ArenaError, Outcomes, Record, Spec
from arena.api.cli import LiveLine, say, workers_for
from arena.api.errors import StoreError
from arena.api.results import (
    BoardInfo,
    RoundLeads,
    RoundValues,
    compare_values,
    figures,
    result_points,
    seat_ways,
    tallies_of,
)
from arena.api.run import Monitor, PlayedMatch, RunSettings, Scheduled, play_tournament
from arena.api.store import Store
from arena_duel.decision_limits import REMEDY, DurationForecast
from arena_pairings.sprt import Sprt
from arena_pairings.sprt_state import SprtState
from arena_tune.formats import MAX_SEARCH_POSITIONS, HeldOut, HeldOutBenchmark, HeldOutGauntlet
from arena_tune.shared_rivals import SharedRivals
from arena_tune.space import Options
from arena_tune.terms import DEFAULT, Terms

SECONDS_BEFORE_WORKERS = 2.0
"""For this many seconds, a stage is played in this process. Workers take over only after that, because they take a second to
start.
"""
SEARCH, CONFIRM = "search", "confirm"
"""The first words in the names of runs."""
HELD_OUT = (HeldOut.name, HeldOutGauntlet.name, HeldOutBenchmark.name)
"""The formats of confirmations."""


class _ShownTrials(Monitor):
    def note(self, text: str) -> None:
        """Print a line."""
        say(text)


@dataclass(slots=True)
class PlayedTuning(AbstractContextManager["PlayedTuning"]):
    """Plays the matches of a tuning. Matches that are in its store already are not played again."""

    terms: Terms
    path: Path
    digest: str
    workers: int | None
    quiet: bool
    store: Store = field(init=False)
    _line: LiveLine = field(init=False)
    _duration: DurationForecast = field(init=False)
    _words: str = ""
    _texts: tuple[list[str], list[str]] = ([], [])
    """The positions in the spec, divided into positions for the search and positions for the confirmation."""

    def __enter__(self) -> Self:
        """Open the store; raises StoreError if it is not the store of this tuning."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.store = Store.open(self.path, write=True)
        self._line = LiveLine(sys.stderr, wanted=not self.quiet, in_file=True)
        self._duration = DurationForecast(workers_for(self.workers, MAX_SEARCH_POSITIONS), self._warn)
        texts = list(dict.fromkeys(self.terms.keys.get("positions", ())))
        self._texts = texts[::2][:MAX_SEARCH_POSITIONS], texts[1::2]
        try:
            self._check_apart()
        except BaseException:
            self.store.close()
            raise
        self._duration.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self._duration.__exit__()
        self._line.show("")
        self.store.close()

    def _warn(self, line: str) -> None:
        if REMEDY in line and not self.quiet:
            say(f"note: {line}")

    def _check_apart(self) -> None:
        """Raise StoreError unless every run in the store belongs to this tuning. Another search may have seen the positions of
        the confirmation.
        """
        for run in self.store.runs():
            name, held = run.name.split(" "), run.boards[0].format in HELD_OUT
            if name[0] not in (SEARCH, CONFIRM) or name[-1] != self.digest or (name[0] == CONFIRM) != held:
                raise StoreError(
                    f"{self.path} contains {run.name!r}, which is another search: its matches may have used positions that are "
                    "reserved for the confirmation; choose another file with --store"
                )

    @property
    def positions(self) -> int:
        """Return the maximum number of positions that a trial of the search can play."""
        return len(self._texts[0]) if "positions" in self.terms.keys else MAX_SEARCH_POSITIONS

    @property
    def pair_matches(self) -> int:
        """Return the number of matches that one trial plays at one position."""
        return 1 if self.terms.alone else 2 * max(1, len(self.terms.rivals))

    def check_openings(self, first: int) -> None:
        """Raise ArenaError if the first `first` openings, which the search may use, leave no other opening to confirm its result
        on. No match is played for this.
        """
        terms = self.terms
        if self._texts[1] or not terms.keys.get("openings"):
            return
        entries = [{**terms.labelled(terms.default), "label": label} for label in (DEFAULT, "best")]
        spec = terms.load(f"{CONFIRM} {terms.name} {self.digest}", entries, {"name": HeldOut.name, "first": first}, {"rounds": 1})
        positions = spec.boards[0].positions
        seen = {positions[number].text for number in range(first)}
        if positions[first].text in seen:
            plies = f"{positions.plies:,} {'ply' if positions.plies == 1 else 'plies'}"
            raise ArenaError(
                f"{terms.game} has {figures.amount(len(seen), 'opening')} of {plies}, and the search would use all of them, so "
                "none would be left to confirm its result; set more plies with --openings, or start all games from the "
                "initial position with "
                "--openings 0"
            )

    def searched(self) -> tuple[int | None, float]:
        """Return the number of stages in a finished search (None before the confirmation has begun), and the seconds that the
        search has taken.
        """
        hashes, seconds, begun = set(), 0.0, False
        for run in self.store.runs():
            if run.name.startswith(CONFIRM):
                begun = True
            else:
                hashes.add(run.hash)
                if run.ended:
                    seconds += (datetime.fromisoformat(run.ended) - datetime.fromisoformat(run.started)).total_seconds()
        return (len(hashes) if begun else None), seconds

    def note(self, words: str) -> None:
        """Set the words at the end of the progress line."""
        self._words = words

    def play_trials(self, trials: Sequence[Options], positions: int) -> list[Any]:
        """Return the scores of trials at the first `positions` positions. Matches that the store does not have are played now."""
        terms = self.terms
        entries = [terms.labelled(one) for one in trials]
        rivals = [dict(one) for one in terms.rivals] or [terms.labelled(terms.default)]
        if terms.alone:
            format_: dict[str, Any] = {"name": "benchmark"}
            entries = [*rivals, *[one for one in entries if one["label"] != DEFAULT]]
            rivals = []
        else:
            format_ = {"name": "gauntlet", "challengers": len(entries)}
        more = {"positions": self._texts[0][:positions]} if self._texts[0] else {"rounds": positions}
        spec = terms.load(f"{SEARCH} {terms.name} {self.digest}", [*entries, *rivals], format_, more)
        records = self._play(spec)
        labels = [terms.labelled(one)["label"] for one in trials]
        if terms.alone:
            return [_compare_alone(records, label, positions, value_of) for label in labels]
        seated = [seat.label for seat in spec.boards[0].seats]
        return [_score_pairs(records, number, seated, len(entries), positions) for number in range(len(entries))]

    def _play(self, spec: Spec) -> dict[tuple[int, tuple[str, ...]], Record]:
        """Return the records of a spec by position and labels. Missing matches are played first."""
        board = spec.boards[0]
        pairings = board.format.schedule(board.field, Outcomes())
        schedule = [Scheduled(number, 0, pairing) for number, pairing in enumerate(pairings) if pairing is not None]
        ids = [one.match_id(spec) for one in schedule]
        kept = self.store.has(ids)
        if any(one not in kept or kept[one].returns is None for one in ids):
            self._run(spec)
        found = self.store.found(ids)
        return {
            (one.pairing.round, tuple([board.seats[entry].label for entry in one.pairing.seats])): found[identity][0]
            for one, identity in zip(schedule, ids, strict=True)
            if identity in found
        }

    def _run(self, spec: Spec) -> None:
        """Play the matches of a spec that are missing in the store."""
        remedy = "remove that file to search again from the start, or choose another file with --store"
        settings = RunSettings(workers=workers_for(self.workers, spec.size), alone=SECONDS_BEFORE_WORKERS, remedy=remedy)
        play_tournament(spec, self.store, settings, _ShownTrials(self._show))

    def _show(self, played: PlayedMatch) -> None:
        self._duration.note(played)
        self._line.show(f"{figures.amount(len(self.store), 'match')}; {self._words}")

    def confirm_pairs(self, best: Options, test: Sprt, pairs: int, first: int) -> SprtState | None:
        """Play the sequential test between the best options and the default. Return None when no pair could be played."""
        spec = self._load_confirmation(best, HeldOut.name, test, pairs, first)
        self._run(spec)
        (tally,) = tallies_of(self.store, [BoardInfo.of(spec.boards[0])])
        return SprtState.of(tally.sheet, tally.matches, tally.returns.luck_by_round(0))

    def confirm_rivals(self, best: Options, test: Sprt, positions: int, first: int) -> SharedRivals:
        """Play the sequential test between the best options and the default. Both play against the opponents in the spec."""
        spec = self._load_confirmation(best, HeldOutGauntlet.name, test, positions, first)
        self._run(spec)
        format_ = spec.boards[0].format
        assert isinstance(format_, HeldOutGauntlet)
        return format_.scores

    def _load_confirmation(self, best: Options, format_name: str, test: Sprt, pairs: int, first: int) -> Spec:
        """Return the spec of a confirmation, which ends before the first opening that was already used in the search."""
        terms = self.terms
        first = 0 if self._texts[1] else first
        format_ = {"name": format_name, "test": {"sprt": asdict(test)}, "first": first}
        more: dict[str, Any] = {"positions": self._texts[1][:pairs]} if self._texts[1] else {"rounds": pairs}
        entries = [terms.labelled(best), terms.labelled(terms.default), *terms.rivals]
        name = f"{CONFIRM} {terms.name} {self.digest}"
        spec = terms.load(name, entries, format_, more)
        if terms.keys.get("openings"):
            positions = spec.boards[0].positions
            seen = {positions[number].text for number in range(first)}
            fresh = next((number for number in range(pairs) if positions[first + number].text in seen), pairs)
            if fresh < pairs:
                spec = terms.load(name, entries, format_, {"rounds": fresh})
        return spec

    def confirm_alone(self, best: Options, positions: int, first: int) -> "AloneResult":
        """Play at most `positions` held-out positions, each with the best options and with the default."""
        terms, listed = self.terms, self._texts[1]
        if listed:
            first, positions = 0, min(positions, len(listed))
        format_ = {"name": HeldOutBenchmark.name, "first": first}
        more = {"positions": listed[:positions]} if listed else {"rounds": positions}
        entries = [terms.labelled(best), terms.labelled(terms.default)]
        spec = terms.load(f"{CONFIRM} {terms.name} {self.digest}", entries, format_, more)
        records = self._play(spec)
        seen: set[str] = set()
        if not listed:
            seen = {spec.boards[0].positions[number].text for number in range(first)}
        fresh = {key: record for key, record in records.items() if record.position not in seen}
        label = entries[0]["label"]
        both = [
            (one, other)
            for number in range(first, first + positions)
            if (one := fresh.get((number, (label,)))) and (other := fresh.get((number, (DEFAULT,))))
            if "void" not in (one.termination, other.termination)
        ]
        return AloneResult(both)


@dataclass(frozen=True, slots=True)
class AloneResult:
    """The records with the best options and with the default, position by position."""

    records: list[tuple[Record, Record]]

    def counts(self) -> list[int]:
        """Return the number of positions at which the best options were worse, equal and better, as pentanomial counts."""
        values = [0.5 + np.sign(value_of(one, other) - 0.5) / 2 for one, other in self.records]
        return [values.count(0.0), 0, values.count(0.5), 0, values.count(1.0)]

    @property
    def both(self) -> list[tuple[Record, Record]]:
        """The records of the positions that both solved."""
        return [(one, other) for one, other in self.records if one.solved and other.solved]

    def compare_solved(self) -> RoundLeads | None:
        """Return the lead of the best options in the share of solved positions, with its test and its interval; None if the game
        is no puzzle. Equal positions are one observation.
        """
        first: dict[str | None, int] = {}
        positions = {number: first.setdefault(one.position, number) for number, (one, _) in enumerate(self.records)}
        repeats: dict[tuple[int, ...], dict[int, int]] = {}
        if len(first) < len(positions):
            repeats = {(0,): positions, (1,): positions}
        best, default = RoundValues(0, repeats), RoundValues(1, repeats)
        for number, (one, other) in enumerate(self.records):
            if one.solved is None or other.solved is None:
                return None
            best.add(number, float(one.solved), (0,))
            default.add(number, float(other.solved), (1,))
        return compare_values(best, default, paired=True)

    def means(self) -> dict[str, tuple[float, float]]:
        """Return the figures for the best options and for the default. Those of solutions are at positions that both solved."""
        found: dict[str, tuple[float, float]] = {}
        if self.records[0][0].solved is None:
            found["mean return"] = _means([(one.returns[0], other.returns[0]) for one, other in self.records])
            return found
        found["solved"] = _means([(float(bool(one.solved)), float(bool(other.solved))) for one, other in self.records])
        both = self.both
        costs = [(one.cost, other.cost) for one, other in both if one.cost is not None and other.cost is not None]
        if costs:
            found["cost"] = _means(costs)
        if both:
            found["nodes"] = _means([(_nodes(one), _nodes(other)) for one, other in both])
            ways = {way for pair in both for record in pair for way in seat_ways(record)}
            if len(ways) == 1 and None not in ways:
                found["seconds"] = _means([(_seconds(one), _seconds(other)) for one, other in both])
        return found


def _means(values: Sequence[tuple[float, float]]) -> tuple[float, float]:
    one, other = np.mean(values, axis=0)
    return float(one), float(other)


def _nodes(record: Record) -> float:
    return float(sum(one.nodes for one in record.decisions))


def _seconds(record: Record) -> float:
    return sum(one.seconds for one in record.decisions)


SOLVED, COST, EFFORT = 0.5, 0.2, 0.1
"""The largest distance of a score from 1/2: SOLVED if only one of two entries solves a position, COST if the costs of their
solutions differ, and EFFORT if only their nodes or times differ.
"""


def value_of(record: Record, default: Record) -> float:
    """Return the score of a record compared with the record of the default at the same position. The score depends first on
    whether the position is solved, then on the cost, and then on the nodes or the time.

    A score of 1/2 means that both are equally good. In a game with one seat that is not a puzzle, the returns decide.
    """
    if record.solved is None:
        return result_points(record.results[0], default.results[0])
    if record.solved != default.solved:
        return 0.5 + (SOLVED if record.solved else -SOLVED)
    if not record.solved:
        return 0.5
    if record.cost is not None and default.cost is not None and record.cost != default.cost:
        most = max(abs(record.cost), abs(default.cost))
        return 0.5 + COST * tanh(4 * (default.cost - record.cost) / most)
    one, other = _nodes(record), _nodes(default)
    if not one or not other:
        one, other = _seconds(record), _seconds(default)
    return 0.5 + EFFORT * tanh(log2(max(other, 1e-9) / max(one, 1e-9)))


def _compare_alone(
    records: Mapping[tuple[int, tuple[str, ...]], Record], label: str, positions: int, value: Callable[[Record, Record], float]
) -> Any:
    scores = np.full(positions, np.nan)
    for number in range(positions):
        one, other = records.get((number, (label,))), records.get((number, (DEFAULT,)))
        if one is not None and other is not None and "void" not in (one.termination, other.termination):
            scores[number] = value(one, other)
    return scores


def _score_pairs(
    records: Mapping[tuple[int, tuple[str, ...]], Record], entry: int, labels: Sequence[str], challengers: int, positions: int
) -> Any:
    """Return the scores of a challenger: at each position, the mean of its game pairs against all opponents."""
    scores = np.full(positions, np.nan)
    mine = labels[entry]
    for number in range(positions):
        shares = []
        for other in labels[challengers:]:
            ahead, behind = records.get((number, (mine, other))), records.get((number, (other, mine)))
            if ahead is None or behind is None or "void" in (ahead.termination, behind.termination):
                continue
            shares += [result_points(*ahead.results), result_points(behind.results[1], behind.results[0])]
        if shares:
            scores[number] = np.mean(shares)
    return scores
