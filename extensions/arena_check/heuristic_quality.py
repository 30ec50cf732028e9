"""The command `heuristic`: compares heuristics of a puzzle with the known distances of states, without letting an agent
search.
"""

import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations
from math import isfinite, isnan, nan, sqrt
from statistics import fmean, stdev
from typing import Any

import click

from arena import ArenaError, Puzzle, State, tell_progress
from arena.api.cli import PercentLine, Terminal, format_option, load, plugin_option, results_alone, say
from arena.api.errors import abbreviate, call_foreign, describe, describe_unmade, escape_line
from arena.api.games import Evaluation, bind, count_given, read_number
from arena.api.results import TextTable, figures
from arena.clock import perf_counter
from arena_catalog.catalogue import make_game, read_parameters
from arena_check.admissibility import TOLERANCE
from arena_check.distances import assumed_distances, distances, proven_distances, way_to_goal
from arena_setup.options import seed_option, set_option
from arena_setup.words import heuristic_of, values_of

MAX_PREDICTED_NODES = 20_000
"""Predictions are made only for bounds of IDA* with at most this many nodes, because the nodes are also counted, which takes
time.
"""
MAX_BOUNDS = 5
"""The number of bounds of IDA* that are shown."""
MAX_COUNTED_NODES = 1_000_000
"""If the prediction is right, at most this many nodes are counted, so that all states are starts if there are few. There are
always MIN_STARTS, or all states.
"""
MIN_STARTS = 50
SETTLING_LEVELS = 200
"""The number of levels of the search tree after which the distribution of its states no longer changes."""
MAX_TIMED_CALLS = 5_000
MAX_PASSES = 7
"""Calls are timed in this many passes over the states, and the fastest pass counts."""
MAX_PASSES_SECONDS = 1.0
STATES_PER_PROGRESS = 1_000
MAX_GOAL_SEARCH_STATES = 300_000
MAX_POSITIONS = 20
"""The number of random positions from which states are explored, because in some puzzles each position has a goal of its
own."""
COSTS_DIFFER = "the formula needs steps that all cost 1"
HAS_DEAD_ENDS = "the formula needs the same mixture of states at all depths of a search, but dead ends become more frequent"
NOT_CONSISTENT = "the formula needs a consistent heuristic"
NOT_ALL_STATES = "the formula needs all states, but there are too many; raise --states, or use a smaller puzzle, with --set"
MIN_STATES_TO_TELL = 100
"""If fewer states of a larger puzzle are measured, the output says that they are too few."""
TOO_LARGE = f"even the smallest iteration would visit more than {MAX_PREDICTED_NODES:,} nodes"


@dataclass(frozen=True, slots=True)
class Prediction:
    """The nodes in one iteration of IDA*. The iteration visits all paths on which cost plus estimate never exceeds a bound."""

    bound: int
    predicted: float
    measured: float
    """The mean of the counted nodes over the starts."""
    error: float | None
    """The standard error of `measured`, because the starts are a random sample of the states; None if all states are starts."""
    starts: int
    states: int
    """The number of states from which the starts were drawn."""


@dataclass(frozen=True, slots=True)
class Quality:
    """The figures for one heuristic. Dead ends, the states without a solution, have figures of their own. A negative estimate
    counts as 0, as in all searches.
    """

    heuristic: str
    states: int
    """The number of states that are not goals, without dead ends."""
    mean_error: float | None
    """The mean of the distance minus the estimate; None if an estimate is infinite. The same is true of the next two figures."""
    mean_share: float | None
    """The mean of the estimate divided by the distance, where the distance is not 0; None if it is 0 everywhere."""
    share_states: int
    """The number of states in this mean. There may be fewer than `states`, because steps to a goal may cost nothing."""
    correlation: float | None
    """Pearson's correlation of estimates and distances; None if either is the same everywhere."""
    exact: float
    """The share of the states at which the estimate equals the distance."""
    negative_estimates: int
    """The number of states with a negative estimate, goals and dead ends included."""
    negative: str | None
    """A state with the lowest negative estimate."""
    overestimates: int
    overestimate: str | None
    """A state at which the estimate exceeds the distance by the most."""
    inconsistent_steps: int
    inconsistent: str | None
    """A state from which a step lowers the estimate by more than its cost."""
    dead_ends: int
    detected_dead_ends: int
    """The number of dead ends at which the estimate exceeds the distance of every state with a solution. A search that finds the
    cheapest solutions never needs to expand these dead ends.
    """
    dead_end_estimates: tuple[float, float] | None
    """The smallest and the largest estimate at a dead end, which may be infinite; None without dead ends."""
    seconds_per_call: float
    """The mean time of a call in the fastest of several passes over the states, which other programs disturbed least."""
    predictions: tuple[Prediction, ...]
    """Predicted and counted nodes of IDA*."""
    unpredicted: str | None
    """Why predictions are missing."""
    goal: str | None = None
    """A goal with the largest estimate, if this is not 0. Then consistency does not imply admissibility."""

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain values. In JSON, which has no infinity, null takes the place of an infinite estimate."""
        ends = self.dead_end_estimates
        return {**asdict(self), "dead_end_estimates": ends and [bound if isfinite(bound) else None for bound in ends]}


def describe_call_time(seconds: float) -> str:
    """Return the time of a call, which may be less than the smallest time that is shown elsewhere."""
    return f"{seconds * 1e9:.0f} ns" if seconds < 1e-6 else figures.duration(seconds)


@click.command()
@click.argument("heuristics", nargs=-1, required=True, metavar="NAME...")
@click.option("--on", "puzzle", required=True, metavar="PUZZLE", help="The puzzle.")
@set_option("A parameter of the puzzle, such as rows=2; may be repeated.")
@click.option(
    "--states",
    type=click.IntRange(10, 10**6),
    default=50_000,
    show_default=True,
    help="Maximum number of states to explore to compute distances.",
)
@seed_option("Seed of the position, and of the states at which the nodes of IDA* are counted.")
@format_option
@plugin_option
def heuristic(
    heuristics: tuple[str, ...],
    puzzle: str,
    given: tuple[str, ...],
    states: int,
    seed: int,
    style: str,
    plugins: tuple[str, ...],
) -> int:
    """Measure heuristics at states with a known distance to the goal: error, correlation, claims, time, and nodes of IDA*."""
    with results_alone() as out, PercentLine(sys.stderr):
        registry = load(plugins)
        if not issubclass(registry.game(puzzle), Puzzle):
            raise ArenaError(f"{puzzle} is not a puzzle, so its states have no distance to a goal")
        game: Any = make_game(registry, puzzle, values_of(given, what="--set"))
        evaluations: dict[str, Evaluation] = {}
        failed: dict[str, str] = {}
        for word in heuristics:
            name, values = heuristic_of(word)
            target = registry.heuristic(puzzle, name)
            parameters = read_parameters(target, values, f"heuristic {word}", skip=count_given(target))
            bound: Any = call_foreign(partial(bind, target, game, parameters), describe_unmade)
            if isinstance(bound, str):
                failed[word] = f"heuristic {word}: {bound}"
            else:
                evaluations[word] = bound
        if not evaluations:
            raise ArenaError("\n".join(failed.values()))
        sample = find_sample(game, states, random.Random(seed), evaluations)
        qualities = []
        for word, evaluate in evaluations.items():
            try:
                qualities.append(measure_quality(game, word, evaluate, sample, rng=random.Random(seed)))
            except HeuristicFault as fault:
                failed[word] = str(fault)
        if style == "json":
            document = {
                "puzzle": puzzle,
                "states": len(sample.known) + len(sample.dead_ends),
                "goals": sum(map(game.is_goal, sample.known)),
                "dead_ends": len(sample.dead_ends),
                "explored": sample.explored,
                "whole": sample.whole,
                "assumed": sample.assumed,
                "positions": sample.positions,
                "heuristics": [one.as_dict() for one in qualities],
                "failed": failed,
            }
            print(json.dumps(document, indent=2, allow_nan=False), file=out)
        elif style == "csv":
            print(quality_csv(qualities), file=out)
        elif qualities:
            width = Terminal(out).room if style == TextTable.DEFAULT else None
            print(TextTable.fold(quality_text(puzzle, sample, qualities, evaluations, style, width), width), file=out)
        for text in failed.values():
            say(f"error: {escape_line(text)}")
    return 1 if failed else 0


class HeuristicFault(ArenaError):
    """A heuristic fails at a state, or returns no number."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The states at which heuristics are measured."""

    known: Mapping[State, float]
    """The states from which a goal can be reached, with their distances."""
    dead_ends: Sequence[State]
    """The states from which no goal can be reached; empty unless `whole`."""
    whole: bool
    """Whether these are all the states to which the positions lead. Otherwise they are the states nearest to a goal, or the
    explored states with a proven distance.
    """
    assumed: bool
    """Whether the distances assume that unexplored states are like the explored ones: their actions can be undone, and they are
    no goals.
    """
    explored: int
    """The number of states that were explored."""
    positions: int
    """The number of random positions."""
    same_states: bool
    """Whether every position that was drawn leads to the same states, so that one position is enough."""


def find_sample(puzzle: Puzzle, most: int, rng: random.Random, guides: Mapping[str, Evaluation]) -> Sample:
    """Return all states to which MAX_POSITIONS random positions lead.

    If there are more than `most` states, use fewer positions. If the first position alone leads to more than `most` states,
    a search with the first of `guides` that does not fail finds a goal. The result has the `most` states nearest to this goal, if
    their actions can be undone and none of them is another goal. Otherwise `most` states are explored from the states before this
    goal, and the result has those of them whose distance is proven.
    """
    positions = sorted([puzzle.initial(rng) for _ in range(MAX_POSITIONS)], key=puzzle.is_goal)  # a goal leads nowhere
    found = distances(puzzle, positions, most)
    if found is not None:
        states = {state for state, _ in found.known}.union(found.dead_ends)
        same = found.positions == 1 and states.issuperset(positions)
        known = dict(found.known)
        return Sample(
            known, found.dead_ends, whole=True, assumed=False, explored=len(states), positions=found.positions, same_states=same
        )
    faults = []
    for name, evaluate in guides.items():
        try:
            way = way_to_goal(puzzle, positions[0], MAX_GOAL_SEARCH_STATES, partial(_estimate, puzzle, name, evaluate))
            break
        except HeuristicFault as fault:
            faults.append(str(fault))  # it fails again when it is measured
    else:
        way = way_to_goal(puzzle, positions[0], MAX_GOAL_SEARCH_STATES)
    if not way:
        reason = f"no goal was found within {MAX_GOAL_SEARCH_STATES:,} states; use a smaller puzzle, with --set"
        raise ArenaError("\n".join([*faults, reason]))
    near = assumed_distances(puzzle, way[0][0], most)
    if near is not None:
        return Sample(dict(near), (), whole=False, assumed=True, explored=len(near), positions=1, same_states=False)
    proven, explored = proven_distances(puzzle, [state for state, _ in way[1:]], most)
    if all(puzzle.is_goal(state) for state, _ in proven):
        raise ArenaError(f"none of {explored:,} explored states has a proven distance; raise --states, or use a smaller puzzle")
    return Sample(dict(proven), (), whole=False, assumed=False, explored=explored, positions=1, same_states=False)


def measure_quality(puzzle: Puzzle, name: str, evaluate: Evaluation, sample: Sample, *, rng: random.Random) -> Quality:
    """Return the figures for a heuristic at the states of a sample. `rng` chooses the states where the search of IDA* starts."""
    known = sample.known
    if not known:
        raise ArenaError("no position has a solution, so distances are unknown; try another --seed")
    states = [*known, *sample.dead_ends]
    given = [_estimate(puzzle, name, evaluate, state) for state in _show_progress(f"estimating with {name}", states)]
    least = min(range(len(given)), key=given.__getitem__)
    values = [max(0.0, value) for value in given]
    seconds = _time_calls(evaluate, states[:MAX_TIMED_CALLS])  # further passes are timed, because the first one may fill tables
    estimates = dict(zip(states, values, strict=True))
    open_states = [state for state in known if not puzzle.is_goal(state)]
    if not open_states:
        raise ArenaError("all states are goals, so there is nothing to estimate; use a larger puzzle, with --set")
    pairs = [(estimates[state], known[state]) for state in open_states]
    finite = all(isfinite(value) for value, _ in pairs)
    shares = [value / distance for value, distance in pairs if distance > 0 and finite]
    over = [(estimates[state] - known[state], state) for state in known if estimates[state] > known[state] + TOLERANCE]
    lost = [estimates[state] for state in sample.dead_ends]
    furthest = max(known.values())
    steps: list[tuple[float, State]] = []
    for state in _show_progress(f"checking the steps of {name}", [*open_states, *sample.dead_ends]):
        for action in puzzle.actions(state):
            successor = puzzle.result(state, action)
            if successor not in estimates:  # its distance is not proven
                estimates[successor] = max(0.0, _estimate(puzzle, name, evaluate, successor))
            drop = estimates[state] - estimates[successor] - puzzle.step_cost(state, action, successor)
            if drop > TOLERANCE:
                steps.append((drop, state))
    worst, steepest = (max(found, key=lambda one: one[0])[1] if found else None for found in (over, steps))
    goals = [state for state in known if puzzle.is_goal(state) and estimates[state] > TOLERANCE]
    wrong_goal = max(goals, key=estimates.__getitem__, default=None)
    predictions: list[Prediction] | str = NOT_ALL_STATES
    if sample.whole:
        predictions = NOT_CONSISTENT if steps else HAS_DEAD_ENDS if lost else predict_nodes(puzzle, estimates, int(furthest), rng)
    return Quality(
        name,
        len(open_states),
        _mean([distance - value for value, distance in pairs]) if finite else None,
        _mean(shares) if shares else None,
        len(shares),
        _correlate(pairs) if finite else None,
        fmean([abs(value - distance) <= TOLERANCE for value, distance in pairs]),
        sum([value < 0 for value in given]),
        puzzle.format_state(states[least]) if given[least] < 0 else None,
        len(over),
        None if worst is None else puzzle.format_state(worst),
        len(steps),
        None if steepest is None else puzzle.format_state(steepest),
        len(lost),
        sum([value > furthest + TOLERANCE for value in lost]),
        (min(lost), max(lost)) if lost else None,
        seconds,
        () if isinstance(predictions, str) else tuple(predictions),
        predictions if isinstance(predictions, str) else None,
        None if wrong_goal is None else puzzle.format_state(wrong_goal),
    )


def _show_progress(what: str, states: Sequence[State]) -> Iterator[State]:
    """Yield all states, and report the progress."""
    for number, state in enumerate(states):
        if number % STATES_PER_PROGRESS == 0:
            tell_progress(what, number, len(states))
        yield state
    tell_progress(what, len(states), len(states))


def _estimate(puzzle: Puzzle, name: str, evaluate: Evaluation, state: State) -> float:
    """Return an estimate, which may be infinite or negative. Raises HeuristicFault."""

    def fault(reason: str) -> HeuristicFault:
        return HeuristicFault(f"heuristic {name} at {puzzle.format_state(state)}: {reason}")

    value: Any = call_foreign(lambda: evaluate(state), lambda error: fault(describe(error)))
    if isinstance(value, HeuristicFault):
        raise value
    try:
        number = read_number(value)
    except ValueError:
        number = nan
    if isnan(number):
        raise fault(f"expected a number in the range of a float, or infinity for a dead end, got {abbreviate(value)}")
    return number


def _time_calls(evaluate: Evaluation, states: Sequence[State]) -> float:
    """Return the mean seconds of a call in the fastest of up to MAX_PASSES passes over the states. No pass begins after
    MAX_PASSES_SECONDS.
    """
    passes: list[float] = []
    while not passes or (len(passes) < MAX_PASSES and sum(passes) < MAX_PASSES_SECONDS):
        began = perf_counter()
        for state in states:
            evaluate(state)
        passes.append(perf_counter() - began)
    return min(passes) / len(states)


def _mean(values: Sequence[float]) -> float:
    """Return the mean of finite values, also if their sum overflows."""
    largest = max(map(abs, values)) or 1.0
    return largest * fmean([value / largest for value in values])


def _correlate(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return Pearson's correlation of the pairs; None if the first or the second values are all the same."""
    largest = [max([abs(pair[side]) for pair in pairs]) or 1.0 for side in (0, 1)]
    pairs = [(one / largest[0], other / largest[1]) for one, other in pairs]  # so that no square overflows
    mean_one, mean_other = (fmean([pair[side] for pair in pairs]) for side in (0, 1))
    squares = [sum([(pair[side] - mean) ** 2 for pair in pairs]) for side, mean in ((0, mean_one), (1, mean_other))]
    if not all(squares):
        return None
    return sum([(one - mean_one) * (other - mean_other) for one, other in pairs]) / sqrt(squares[0] * squares[1])


def predict_nodes(puzzle: Puzzle, estimates: Mapping[State, float], deepest: int, rng: random.Random) -> list[Prediction] | str:
    """Return the predicted and the counted nodes for the last MAX_BOUNDS iterations of IDA* that are not too large. If there are
    no predictions, return the reason. The bounds are at most `deepest`.

    R. Korf, M. Reid, S. Edelkamp, Time complexity of iterative-deepening-A*, 2001: an iteration with the bound c visits the sum
    over all levels i of N(i) P(c - i) nodes. N(i) is the number of paths of i steps on which no step undoes the step before. P(x)
    is the share of states with an estimate of at most x, among the states in deep levels of the tree. Every state is equally
    likely to be the start, and a path continues beyond a goal. The counted nodes are a mean over all states as starts or, if
    there are too many (see MAX_COUNTED_NODES), over a random sample of them. The formula needs a consistent heuristic, steps of
    cost 1, and a puzzle without dead ends.
    """
    import numpy as np

    states = list(estimates)
    place = {state: number for number, state in enumerate(states)}
    beside: list[list[int]] = []
    for state in states:
        successors = {action: puzzle.result(state, action) for action in puzzle.actions(state)}
        if any(puzzle.step_cost(state, action, successor) != 1 for action, successor in successors.items()):
            return COSTS_DIFFER
        beside.append(list(dict.fromkeys([place[successor] for successor in successors.values() if successor in place])))
    undone = all(number in beside[other] for number, others in enumerate(beside) for other in others)
    source = np.repeat(np.arange(len(states)), [len(others) for others in beside])
    target = np.array([other for others in beside for other in others], dtype=np.int64)
    back = np.array([len(others) for others in beside]) - 1 if undone else np.zeros(len(states))
    levels = [np.full(len(states), 1 / len(states))]
    sums = [1.0]
    before = np.zeros(len(states))
    scale = 1.0
    for level in range(SETTLING_LEVELS):
        after: Any = np.bincount(target, weights=levels[-1][source], minlength=len(states))
        after = after - (back + (level == 1)) * before if undone and level else after
        total = after.sum()
        if total <= 0:
            break
        before, scale = levels[-1] / total, scale * total
        levels = [after / total]  # scaled, so that numbers do not overflow after many levels
        sums.append(scale)
    values = np.array([estimates[state] for state in states])
    shares = [float(levels[-1][values <= bound + TOLERANCE].sum()) for bound in range(deepest + 1)]
    bounds = []
    for bound in range(deepest + 1):
        predicted = sum([sums[level] * shares[bound - level] for level in range(bound + 1) if level < len(sums)])
        if predicted > MAX_PREDICTED_NODES:
            break
        bounds.append((bound, predicted))
    if not bounds:
        return TOO_LARGE
    bounds = bounds[-MAX_BOUNDS:]
    total = sum([predicted for _, predicted in bounds])
    number = min(len(states), max(MIN_STARTS, int(MAX_COUNTED_NODES / max(1.0, total))))
    starts = range(len(states)) if number == len(states) else rng.sample(range(len(states)), number)
    plain, found = list(map(float, values)), []
    for bound, predicted in bounds:
        counts = [_count_nodes(beside, plain, start, bound, undone=undone) for start in starts]
        drawn = number < len(states)  # without replacement, so the error falls to 0 as the sample grows to all states
        error = stdev(counts) * sqrt((1 - number / len(states)) / number) if drawn else None
        found.append(Prediction(bound, predicted, fmean(counts), error, number, len(states)))
    return found


def _count_nodes(beside: Sequence[Sequence[int]], values: Sequence[float], start: int, bound: int, *, undone: bool) -> int:
    """Return the number of paths from a start on which cost plus estimate never exceeds a bound, and no step undoes the step
    before.
    """
    if values[start] > bound + TOLERANCE:
        return 0
    count, pending = 1, [(start, -1, 0)]
    while pending:
        state, before, depth = pending.pop()
        for successor in beside[state]:
            if (successor != before or not undone) and depth + 1 + values[successor] <= bound + TOLERANCE:
                count += 1
                pending.append((successor, state, depth + 1))
    return count


def quality_csv(qualities: Sequence[Quality]) -> str:
    """Return two tables in CSV: the figures with a row for each heuristic, and the nodes of IDA* with a row for each bound."""
    rows, nodes = [], []
    for one in qualities:
        row = asdict(one)
        least, most = row.pop("dead_end_estimates") or (None, None)
        nodes += [{"heuristic": one.heuristic, **prediction} for prediction in row.pop("predictions")]
        rows.append({**row, "least_at_dead_ends": least, "most_at_dead_ends": most})
    tables = [[list(table[0]), *[list(row.values()) for row in table]] for table in (rows, nodes) if table]
    return "\n\n".join(["\n".join(map(TextTable.csv_line, table)) for table in tables])


def quality_text(
    puzzle: str,
    sample: Sample,
    qualities: Sequence[Quality],
    evaluations: Mapping[str, Evaluation],
    style: str,
    width: int | None,
) -> str:
    """Return the figures as tables, with a column for each heuristic."""
    known, whole, lost = sample.known, sample.whole, len(sample.dead_ends)
    count = figures.amount(len(known) + lost, "state")
    which = f"all {count}" if whole else f"the {count} nearest to the goal"
    if not (whole or sample.assumed):
        which = f"{count} with a proven distance, of {sample.explored:,} explored states"
    if whole and not sample.same_states:
        which += f" that {sample.positions} random position{'s lead' if sample.positions > 1 else ' leads'} to"
    blocks = [f"{puzzle}: {which}, at distances up to {figures.figure(max(known.values()))}"]
    goals = len(known) - qualities[0].states
    ends = [f"{figures.amount(goals, 'goal')}"]
    ends += [f"{figures.amount(lost, 'dead end')}, from which no goal can be reached"] if lost else []
    blocks.append(
        f"The states include {figures.listing(ends)}. Error, share, correlation and exact estimates are about the other "
        f"{figures.amount(qualities[0].states, 'state')}."
    )
    apart = sum(distance > 0 for distance in known.values())
    if apart < qualities[0].states:
        of_some = f"The share is only about the {apart:,} of them at a distance above 0."
        blocks[-1] += f" {of_some if apart else 'All of them are at distance 0, so there is no share.'}"
    if not whole:
        more = "raise --states, or use a smaller puzzle, with --set"
        why = (
            "The distances assume that actions can be undone and that there is no other goal, which holds at all these states."
            if sample.assumed
            else "The other explored states are left out, because a path through states that were not explored may lead to a "
            "nearer goal."
        )
        blocks.append(f"{why} All figures describe only states near a goal; to measure more states, {more}.")
        if len(known) < MIN_STATES_TO_TELL:
            blocks.append(f"{count} {'is' if len(known) == 1 else 'are'} too few to judge a heuristic.")
    negative = ["States with a negative estimate", *[f"{one.negative_estimates:,}" for one in qualities]]
    rows = [
        ["Mean error (distance minus estimate)", *[figures.figure(one.mean_error) for one in qualities]],
        ["Estimate as a share of the distance", *[figures.share(one.mean_share) for one in qualities]],
        [
            "Correlation with the distance",
            *[figures.NONE if one.correlation is None else figures.Figure(f"{one.correlation:.3f}") for one in qualities],
        ],
        ["Exact", *[figures.share(one.exact) for one in qualities]],
        *([negative] if any(one.negative_estimates for one in qualities) else ()),
        ["States that it overestimates", *[f"{one.overestimates:,}" for one in qualities]],
        ["Steps that break consistency", *[f"{one.inconsistent_steps:,}" for one in qualities]],
        *(_dead_end_rows(qualities) if lost else ()),
        ["Time of a call", *[describe_call_time(one.seconds_per_call) for one in qualities]],
    ]
    blocks.append(TextTable(["", *[one.heuristic for one in qualities]], rows).text(style, width))
    for one in qualities:
        where = "at all states" if whole else f"at {'this' if len(known) == 1 else 'these'} {count}"
        claims = [
            f"not admissible, for example at {one.overestimate}" if one.overestimates else f"admissible {where}",
            f"not consistent, for example after {one.inconsistent}" if one.inconsistent_steps else f"consistent {where}",
        ]
        if not one.overestimates and not one.inconsistent_steps:
            claims = [f"admissible and consistent {where}"]
        if one.negative is not None:
            counted = "a search counts a negative estimate as 0, and so does this comparison"
            blocks.append(f"{one.heuristic} is negative, for example at {one.negative}; {counted}.")
        blocks.append(f"{one.heuristic} is {'; '.join(claims)}.")
        if one.goal is not None and not one.inconsistent_steps:
            blocks[-1] += f"\nIt is not 0 at the goal {one.goal}; consistency implies admissibility only if h is 0 at every goal."
    blocks += _dominance(list(known), qualities, evaluations)
    for one in qualities:
        if one.predictions:
            starts, states = one.predictions[0].starts, one.predictions[0].states
            cells = [[str(row.bound), *map(figures.figure, (row.predicted, row.measured, row.error))] for row in one.predictions]
            headings = ["Bound", "Predicted nodes", "Counted nodes", "Standard error"]
            over = f"all {figures.amount(states, 'start')}"
            if starts < states:
                over = f"{starts:,} random starts of {states:,}"
            else:
                headings, cells = headings[:-1], [row[:-1] for row in cells]
            title = f"Iterations of IDA* with {one.heuristic} (Korf, Reid and Edelkamp, 2001), counted as a mean over {over}"
            blocks.append(f"{title}:\n\n{TextTable(headings, cells).text(style, width)}")
    for reason in dict.fromkeys([one.unpredicted for one in qualities if one.unpredicted is not None]):
        names = figures.listing([one.heuristic for one in qualities if one.unpredicted == reason])
        blocks.append(f"The nodes of IDA* with {names} are not predicted: {reason}.")
    return "\n\n".join(blocks)


def _dead_end_rows(qualities: Sequence[Quality]) -> list[list[str]]:
    """Return the rows about dead ends: the estimates there, and how many of them are larger than every distance."""
    spans = [
        [figures.figure(bound) if isfinite(bound) else "infinite" for bound in one.dead_end_estimates or ()] for one in qualities
    ]
    return [
        ["Estimates at dead ends", *[figures.Figure(" to ".join(dict.fromkeys(span))) for span in spans]],
        [
            "Dead ends with an estimate above every distance",
            *[figures.share(one.detected_dead_ends / one.dead_ends) for one in qualities],
        ],
    ]


def _dominance(states: Sequence[State], qualities: Sequence[Quality], evaluations: Mapping[str, Evaluation]) -> list[str]:
    """Return a sentence for every two heuristics on which of them has the larger estimates."""
    said = []
    values = {one.heuristic: [max(0.0, read_number(evaluations[one.heuristic](state))) for state in states] for one in qualities}
    for (one, first), (other, second) in combinations(values.items(), 2):
        more = sum(mine > theirs + TOLERANCE for mine, theirs in zip(first, second, strict=True))
        less = sum(theirs > mine + TOLERANCE for mine, theirs in zip(first, second, strict=True))
        if bool(more) != bool(less):
            larger, smaller, count = (one, other, more) if more else (other, one, less)
            where = figures.amount(count, "state")
            if any(found.overestimates for found in qualities if found.heuristic == larger):
                said.append(f"{larger} is never smaller than {smaller}, and larger at {where}, but it overestimates.")
            else:
                said.append(f"{larger} dominates {smaller}: it is never smaller, and larger at {where}.")
        elif not more:
            said.append(f"{one} and {other} agree at all {figures.amount(len(states), 'state')} with a solution.")
        else:
            where, equal = figures.amount(more, "state"), len(states) - more - less
            said.append(f"{one} is larger at {where}, {other} at {less:,}, and they agree at {equal:,}.")
    return said
