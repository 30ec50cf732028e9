"""The command `plan`: how many rounds a tournament needs to tell a difference in Elo apart, and how long that takes here."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from math import ceil, inf, log, log2, sqrt
from pathlib import Path
from statistics import NormalDist
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import click

import arena
from arena import ArenaError
from arena.api.cli import Number, plugin_option, results_alone, say_notes, workers_for
from arena.api.errors import call_foreign
from arena.api.match import Positions
from arena.api.results import PairedGames, Tally, figures, tallies_of
from arena.api.spec import Board, Document, load_spec, reload_spec
from arena.api.store import Store
from arena.clock import perf_counter
from arena.stats import SIGNIFICANCE_LEVEL, EloEstimate, expected_score, likeliest, student_quantile

FORMATS = ("round-robin", "head-to-head")
PILOT_ROUNDS = 1000
"""The rounds of a pilot, which usually ends before because its time is over."""
MIN_PILOT_PAIRS = 5
"""A pilot with fewer pairs of games between close entries goes on after its time, for at most as many rounds."""
MIN_PAIRS = 30
"""A remark says that the share of draws is uncertain if there are fewer pairs of games."""
CLOSE_SCORES = (0.25, 0.75)
"""Pairings with such scores show how games between nearly equal entries end."""
COARSE_STEP = 0.25
"""By how much the score that the test needs is above that of a test without steps, on average, if no pair ends 1 1/2 to 1/2. All
leads then are of one size, so that few p-values are possible.
"""
MAX_STARTS_COUNTED = 5000
"""The maximum number of rounds of which the different starting positions are counted."""
OTHER_PLAN = (
    "run the spec with few rounds and look at the interval of the difference in `arena compare STORE`: it gets about half as "
    "wide with four times as many rounds"
)
"""What to do on boards on which entries do not differ by an Elo: all intervals shrink like the root of the number of
rounds."""
ITERATIONS = 60
MAX_ELO, STEP = 800, 25
"""The largest difference in Elo that the command plans, and the steps by which smaller differences are tried."""
MAX_PAIRINGS_NAMED = 3
"""The maximum number of pairings that an error names."""


class _PilotDone(Exception):
    """The time of the pilot is over."""


class Pilot(NamedTuple):
    """What short games or stored games say about the games of a board."""

    counts: tuple[float, ...]
    """Pentanomial counts: the numbers of pairs of games with 0, 1/2, 1, 3/2 and 2 points, counted from both sides."""
    repeats: bool
    """Whether games repeat each other, because no agent drew random numbers."""
    drew: bool
    """Whether any pair of games used random numbers, so that games from the same position differ."""

    @property
    def pairs(self) -> int:
        """The number of pairs of games."""
        return round(sum(self.counts) / 2)


@click.command()
@click.argument("spec")
@click.option("--elo", type=Number(1, MAX_ELO), required=True, help="The difference between two entries, in Elo.")
@click.option(
    "--power",
    type=Number(0.5, 0.99),
    default=0.8,
    show_default=True,
    help="The probability of finding this difference.",
)
@click.option(
    "--pilot",
    type=Number(0, min_open=True),
    default=5.0,
    show_default=True,
    help="Seconds of play per board; a pilot with fewer than five pairs of games continues.",
)
@click.option("--store", metavar="FILE", help="Estimate the share of draws from the games in this store instead of a pilot.")
@click.option("--workers", type=click.IntRange(min=1), help="Number of worker processes of the run; default: one per core.")
@click.option(
    "--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Format of the plan."
)
@plugin_option
def plan(
    spec: str,
    elo: float,
    power: float,
    pilot: float,
    store: str | None,
    workers: int | None,
    style: str,
    plugins: tuple[str, ...],
) -> int:
    """Estimate how many rounds of SPEC tell two entries apart that differ by some Elo, and how long that takes here.

    Boards without such an estimate, such as those of puzzles, are named with the reason.
    """
    with results_alone() as out:
        ready = load_spec(spec, plugins=plugins)
        say_notes(ready, quiet=True)
        faults = [fault for board in ready.boards if (fault := _find_fault(board)) is not None]
        if len(faults) == len(ready.boards):
            raise ArenaError("\n".join(faults))
        stored: dict[tuple[str, frozenset[str]], Tally] = {}
        if store is not None:
            with Store.open(store) as opened, opened.snapshot():
                tallies = tallies_of(opened, opened.last().boards)
                stored = {(tally.sheet.title, frozenset(tally.sheet.labels)): tally for tally in tallies}
        planned: list[dict[str, Any]] = []
        values = dict(ready.document.values)
        if any(board.positions.texts is None for board in ready.boards):
            values["rounds"] = PILOT_ROUNDS
        longer = reload_spec(Document(ready.document.name, values, ready.document.folder), ready.plugins, ready.seed)
        for number, board in enumerate(ready.boards):
            if _find_fault(board) is not None:
                continue
            labels = [seat.label for seat in board.seats]
            try:
                with TemporaryDirectory() as folder:
                    one, most = replace(longer, boards=(longer.boards[number],)), MIN_PILOT_PAIRS if store is None else 1
                    tally, seconds = _play_pilot(one, Path(folder, "pilot.db"), pilot, most)
                if store is not None:
                    found = stored.get((board.title, frozenset(labels)))
                    if found is None:
                        raise ArenaError(
                            f"{board.title}: expected games between {figures.listing(labels)} in {store}, found none"
                        )
                    tally = found
                lines, known = _plan_board(board, read_pilot(tally), seconds, elo, power, workers)
                planned.append(known)
                if style == "text":
                    print("\n".join(lines), file=out)
            except ArenaError as error:
                faults.append(str(error))
        if len(faults) == len(ready.boards):
            raise ArenaError("\n".join(faults))
        if style == "json":
            document = {"elo": elo, "power": power, "boards": planned, "without_plan": faults}
            print(json.dumps(document, indent=2, allow_nan=False), file=out)
        for fault in faults if style == "text" else ():
            print(f"No plan for {fault}.", file=out)
    return 0


def read_pilot(tally: Tally) -> Pilot:
    """Return the pairs of games of entries that are close to each other, or of the closest two if no entries are.

    Raises ArenaError if there are none, or if all of them ended level.
    """
    counted = {entries: PairedGames.count_pairs(pairs) for entries, pairs in tally.matches.pairings().items()}
    scores = {
        entries: sum(count * score for count, score in zip(counts, EloEstimate.PAIR_SCORES, strict=True)) / sum(counts)
        for entries, counts in counted.items()
        if sum(counts)
    }
    if not scores:
        raise ArenaError(f"{tally.sheet.title}: no pair of games ended within the pilot; give it more seconds with --pilot")
    close = [entries for entries, score in scores.items() if CLOSE_SCORES[0] <= score <= CLOSE_SCORES[1]]
    close = close or [min(scores, key=lambda entries: abs(scores[entries] - 0.5))]
    pooled = [sum(column) for column in zip(*[counted[entries] for entries in close], strict=True)]
    pairs = sum(pooled)
    if pooled[2] == pairs:
        met = [
            figures.listing([tally.sheet.labels[entry] for entry in sorted(entries)]) for entries in close[:MAX_PAIRINGS_NAMED]
        ]
        met += [figures.amount(len(close) - len(met), "more pairing")] if len(close) > len(met) else []
        others = sum(map(sum, counted.values())) - pairs
        apart = f" ({figures.amount(others, 'pair')} of games between entries that differ more do not count)" if others else ""
        which = "the only pair" if pairs == 1 else f"all {pairs:,} pairs"
        only_repeats = tally.matches.folded and pairs == len(close)
        what = (
            "The games repeat each other, so more rounds would not show"
            if only_repeats
            else "This does not say how many rounds show"
        )
        raise ArenaError(
            f"{tally.sheet.title}: {which} of games between entries of similar strength ended level{apart}: {'; '.join(met)}. "
            f"{what} a difference; try openings, or a longer pilot"
        )
    return Pilot(
        tuple([float(one + other) for one, other in zip(pooled, reversed(pooled), strict=True)]),
        tally.matches.folded,
        tally.matches.drew,
    )


def count_tests(entries: int) -> int:
    """Return the number of tests on a board of games: the ratings and, with more than two entries, the games of every two."""
    return 1 if entries == 2 else entries * (entries - 1)


def rounds_needed(elo: float, counts: Sequence[float], entries: int = 2, power: float = 0.8) -> float:
    """Return the number of rounds of a round-robin after which its board tells two entries apart that differ by `elo`.

    `counts` are pentanomial counts of pairs of games, the same from both sides. They are tilted to the score that the difference
    implies, by empirical likelihood. `power` is the probability of the verdict. Two entries are compared by sign flips, so their
    sum of leads is measured by the root of the sum of squares. More entries are compared by Student's t of their ratings, which
    use the games against all opponents, at the level of the first step of Holm's method, or by the sign test if one wins all
    games or the other loses all. The other entries are assumed to be half way between the two. A larger difference never needs
    more rounds. Raises ArenaError if all pairs of games were level.

    >>> round(rounds_needed(20, [1, 2, 4, 2, 1])), round(rounds_needed(20, [1, 2, 94, 2, 1]))
    (721, 164)
    """
    if counts[2] == sum(counts):
        raise ArenaError(
            "all pairs of games ended level, which does not say how many rounds are needed; try openings, or a longer pilot"
        )
    return min([_estimate_rounds(lead, counts, entries, power) for lead in (*range(STEP, ceil(elo), STEP), elo)])


def find_difference(rounds: float, counts: Sequence[float], entries: int = 2, power: float = 0.8) -> float | None:
    """Return the smallest difference in Elo that this number of rounds tells; None if it is above 800. See `rounds_needed`."""

    def suffices(elo: float) -> bool:
        return _estimate_rounds(elo, counts, entries, power) <= rounds

    high = next((float(elo) for elo in range(STEP, MAX_ELO + 1, STEP) if suffices(elo)), None)
    if high is None:
        return None
    low = max(1.0, high - STEP)
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def _estimate_rounds(elo: float, counts: Sequence[float], entries: int, power: float) -> float:
    """Return the number of rounds of which `rounds_needed` takes the smallest for all differences up to its own.

    If a difference is so large that nearly all results are wins, the standard error of its estimate grows faster than the
    difference (W. W. Hauck and A. Donner, Wald's Test as Applied to Hypotheses in Logit Analysis, Journal of the American
    Statistical Association 72, 1977). But the games of a few rounds cannot look that one-sided, so the number for a smaller
    difference suffices.
    """
    level = SIGNIFICANCE_LEVEL / count_tests(entries)

    def read_pairs(lead: float) -> tuple[float, float]:
        """Return the variance of the score of a pair of games between two entries with this lead in Elo, and the probability
        that the better one wins both games.
        """
        mean = expected_score(lead)
        shares = likeliest(counts, EloEstimate.PAIR_SCORES, mean)
        variance = sum(share * (score - mean) ** 2 for share, score in zip(shares, EloEstimate.PAIR_SCORES, strict=True))
        return variance, shares[-1]

    spread, won = read_pairs(elo)
    if entries == 2:
        effect = expected_score(elo) - 0.5
        reach, sure = NormalDist().inv_cdf(1 - level / 2), NormalDist().inv_cdf(power)
        wanted = reach * sqrt(spread + effect**2) + sure * sqrt(spread)
        step = 0.0 if counts[1] or counts[3] else COARSE_STEP
        return max(((wanted + sqrt(wanted**2 + 4 * effect * step)) / (2 * effect)) ** 2, log2(2 / level))
    half_spread, half_won = read_pairs(elo / 2)
    slopes = [expected_score(lead) * (1 - expected_score(lead)) for lead in (elo, elo / 2)]
    effect = elo * log(10) / 400 * (2 * slopes[0] + (entries - 2) * slopes[1]) / entries
    variance, model = [
        (4 * direct + 2 * (entries - 2) * other) / entries**2
        for direct, other in ((spread, half_spread), (slopes[0] / 2, slopes[1] / 2))
    ]
    rounds = 3.0
    for _ in range(ITERATIONS):  # the average damps the steps; the board lets no variance be below that of one round by its model
        freedom = max(rounds - 1, 2)
        error = sqrt(max(variance, model / rounds))
        one_sided = half_won ** (rounds * (entries - 2))  # no other entry takes a point from the better one
        swept = won**rounds * (2 - one_sided) * one_sided
        sure = max(0.5, (power - swept) / (1 - swept)) if swept < power else 0.5
        reach = student_quantile(freedom, 1 - level / 2) * error + student_quantile(freedom, sure) * sqrt(variance)
        rounds = (rounds + (reach / effect) ** 2) / 2
    return rounds


def count_starts(positions: Positions, rounds: int) -> float:
    """Return how many different starting positions there are; infinity if the first `rounds` rounds all have different ones. At
    most MAX_STARTS_COUNTED rounds are looked at. If the spec lists positions, there are no others.
    """
    known = positions.texts
    looked = min(rounds, MAX_STARTS_COUNTED) if known is None else len(known)
    found = call_foreign(lambda: len({positions[number].text for number in range(looked)}), lambda _: looked)
    return inf if known is None and found == looked else found


def _find_fault(board: Board) -> str | None:
    """Return why a board does not compare entries by the Elo of games for two in a fixed number of rounds; None if it does."""
    fixed = board.format.name in FORMATS and board.format.sequential_test is None
    if board.game.players != 2 or not fixed or board.ranked_by == "returns":
        ranked = "solved attempts" if board.kind == "puzzle" else board.ranked_by
        tested = "" if board.format.sequential_test is None else " with a sequential test"
        seats = figures.amount(board.game.players, "seat")
        what = f"{seats}, the format {board.format.name}{tested}, ranked by {ranked}"
        advice = ""
        if board.kind == "puzzle" or board.ranked_by == "returns":
            what, advice = f"{'a puzzle, ' if board.kind == 'puzzle' else ''}{what}", f"; {OTHER_PLAN}"
        return (
            f"{board.title}: expected a game for two players that is won, drawn or lost, "
            f"with the format {figures.listing(FORMATS, 'or')} and without a sequential test; got {what}{advice}"
        )
    return None


def _play_pilot(spec: Any, path: Path, seconds: float, most: int) -> tuple[Tally, float]:
    """Play a board in a new store until the time is over, but at least one round, and up to `most` rounds while there are too few
    pairs of games. Return its tally and the seconds per game on one core.
    """
    board, runs = spec.boards[0], list[list[float]]()
    round_size = board.field.entries * (board.field.entries - 1)

    def observe(_match: object) -> None:
        runs[-1].append(perf_counter())
        spent = sum([times[-1] - times[0] for times in runs if times])
        if spent >= seconds and sum(map(len, runs)) >= len(runs) * round_size:
            raise _PilotDone

    for _ in range(most):
        runs.append([])
        with suppress(_PilotDone):
            arena.run(spec, store=path, observe=observe)
        with Store.open(path) as opened:
            (tally,) = tallies_of(opened, opened.last().boards)
        if tally.matches.folded or _count_pairs(tally) >= MIN_PILOT_PAIRS:
            break
    gaps = [after - before for times in runs for before, after in pairwise(times)]
    return tally, sum(gaps) / max(1, len(gaps))


def _count_pairs(tally: Tally) -> int:
    """Return the number of pairs of games between close entries; 0 if they do not say anything yet."""
    try:
        return read_pilot(tally).pairs
    except ArenaError:
        return 0


def describe_duration(seconds: float) -> str:
    """Return an estimated time with two digits, from 100 seconds on in minutes, hours or days.

    >>> describe_duration(20.7), describe_duration(5400), describe_duration(1e6)
    ('21 s', '1.5 hours', '12 days')
    """
    units = (("minutes", 60, 100), ("hours", 3600, 5400), ("days", 86400, 172_800))
    name, size = next(((name, size) for name, size, least in reversed(units) if seconds >= least), ("s", 1))
    amount = float(f"{seconds / size:.2g}")
    return f"{amount:,.0f} {name}" if amount >= 10 else f"{amount:g} {name}"


def _plan_board(
    board: Board, found: Pilot, seconds: float, elo: float, power: float, workers: int | None
) -> tuple[list[str], dict[str, Any]]:
    """Return the plan for a board as lines, and as values for JSON."""
    entries = board.field.entries
    rounds = ceil(rounds_needed(elo, found.counts, entries, power))
    games = rounds * entries * (entries - 1)
    used = workers_for(workers, games)
    tests = count_tests(entries)
    corrected = f", corrected by Holm's method for {tests} tests" if tests > 1 else ""
    starts = inf if found.drew else count_starts(board.positions, max(rounds, board.field.rounds))

    def describe_reach(rounds: float) -> str:
        least = find_difference(min(rounds, starts), found.counts, entries, power)
        one = rounds == 1
        if least is None:
            return f"{'does' if one else 'do'} not find a difference of {MAX_ELO} Elo"
        return f"find{'s' if one else ''} a difference of {least:,.0f} Elo"

    effort = f"{rounds:,} rounds ({games:,} games), taking about {describe_duration(games * seconds / used)}"
    chance = f"a probability of {figures.share(power)}, at the level of {100 * SIGNIFICANCE_LEVEL:g} %{corrected}"
    level = figures.share(found.counts[2] / sum(found.counts))
    own = f"The {figures.amount(board.field.rounds, 'round')} of the spec {describe_reach(board.field.rounds)}."
    limited = starts < rounds
    if limited:
        lines = [
            f"{board.title}: a difference of {elo:g} Elo cannot be shown with {chance}.",
            f"This needs about {rounds:,} rounds with different starting positions, and there are only {starts:,}.",
            "No game of the pilot used random numbers, so further rounds would repeat games, which gives no new information.",
            f"{figures.amount(starts, 'round')} {describe_reach(starts)}.{f' {own}' if board.field.rounds < starts else ''}",
            "For more different positions, use more plies in `openings`, or list more `positions`.",
        ]
    else:
        lines = [
            f"{board.title}: a difference of {elo:g} Elo needs about {effort} with {figures.amount(used, 'worker')}.",
            f"Then the board shows this difference with {chance}. {own}",
        ]
    lines.append(f"Based on {figures.amount(found.pairs, 'pair')} of games, {level} of them level.")
    if found.pairs < MIN_PAIRS and not (limited and found.repeats):
        lines.append("So few pairs say little about draws; give the pilot more seconds, or name a store with more games.")
    if found.repeats and not limited:
        lines.append("Games repeat each other, and repeats give no new information. Use `openings`, or more of their plies.")
    values = {
        "domain": board.title,
        "rounds": rounds,
        "games": games,
        "workers": used,
        "seconds": games * seconds / used,
        "pairs": found.pairs,
        "level": found.counts[2] / sum(found.counts),
        "starts": None if starts == inf else starts,
        "possible": not limited,
        "rounds_of_spec": board.field.rounds,
        "elo_of_spec": find_difference(min(board.field.rounds, starts), found.counts, entries, power),
    }
    return lines, values
