"""Language models behind an OpenAI-compatible address, used as agents."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import exp, inf, sqrt
from typing import TYPE_CHECKING, Any

from arena import hookimpl
from arena.api.results import BoardColumn, Measured

if TYPE_CHECKING:
    from arena import Decision, Record, Spec
    from arena.api.run import Scheduled
    from arena.api.spec import Board

MODELS = frozenset({"llm"})
"""The names of the agents that are language models."""
Estimate = tuple[int, int, float, float | None, float | None]
"""The indices of a board and of an entry, a mean, and the bounds of its 95 % interval."""


@hookimpl
def arena_agents() -> Mapping[str, str]:
    """Return the agent."""
    return {"llm": "arena_bridges.llm.agent:LanguageModel"}


@hookimpl
def arena_board_columns(spec: "Spec | None", records: "Iterable[tuple[Record, Scheduled]]") -> Iterable[BoardColumn]:
    """Return the columns for the answers and the spending of agents with language models."""
    return [
        BoardColumn(
            "legal-first",
            "Legal first",
            "share",
            "Share of decisions in a match without an illegal or unreadable answer.",
            cells=_measure(records, share_legal_first, high=1.0),
            agents=MODELS,
        ),
        BoardColumn(
            "gap",
            "Gap",
            description="Mean return without disguise minus mean return in disguise, which estimates the effect of recall.",
            cells=measure_gap(spec, records),
            agents=MODELS,
        ),
        _sum_up("requests", "Requests", "Number of answered requests."),
        _sum_up("retries", "Retries", "Number of requests that followed an answer that could not be played."),
        _sum_up("illegal", "Illegal", "Number of answers with an illegal move."),
        _sum_up("unreadable", "Unreadable", "Number of answers without a move."),
        _sum_up("truncated", "Truncated", "Number of answers that were cut off at the token limit."),
        _sum_up("from-cache", "From cache", "Number of answers from the cache, which cost nothing."),
        _sum_up("tokens-in", "Tokens in", "Number of input tokens of all decisions."),
        _sum_up("tokens-out", "Tokens out", "Number of output tokens of all decisions."),
        BoardColumn("money", "Money", description="Total price of all decisions.", amount="money", shown="named", agents=MODELS),
        BoardColumn(
            "tokens-per-game",
            "Tokens/game",
            description="Number of input and output tokens of a match.",
            cells=_measure(records, sum_tokens),
            agents=MODELS,
        ),
        BoardColumn(
            "cost-per-game",
            "Cost/game",
            description="Total price of the decisions in a match.",
            cells=read_costs(records),
            agents=MODELS,
        ),
        BoardColumn(
            "seconds-per-answer",
            "s/answer",
            description="Seconds per answer, including all waiting times.",
            cells=_measure(records, mean_seconds),
            agents=MODELS,
        ),
    ]


def _sum_up(name: str, heading: str, description: str) -> BoardColumn:
    return BoardColumn(name, heading, "count", description, amount=name.replace("-", "_"), shown="named", agents=MODELS)


def _measure(
    matches: "Iterable[tuple[Record, Scheduled]]", value: "Callable[[Sequence[Decision]], float | None]", high: float = inf
) -> Iterator[tuple[Any, ...]]:
    """Yield the mean of a value of the decisions of each model in each match. It and the bounds of its interval are between 0 and
    `high`.
    """

    def measure() -> Iterator[Measured]:
        for record, place in matches:
            for seat, entry in enumerate(place.pairing.seats):
                own = [one for one in record.decisions if one.seat == seat and "requests" in (one.spent or {})]
                found = value(own) if own else None
                if found is not None:
                    yield Measured(place.board, place.pairing.round, entry, found)

    yield from estimate(measure(), 0.0, high)


def read_costs(matches: "Iterable[tuple[Record, Scheduled]]") -> "Iterator[tuple[Any, ...]]":
    """Yield the price of each match for each model. Then yield a line with the sums of the run, for the end of the last board."""
    totals, last = Counter[str](), 0
    prices = defaultdict[tuple[int, int], list[Measured]](list)
    for record, place in matches:
        for seat, entry in enumerate(place.pairing.seats):
            own = [one for one in record.decisions if one.seat == seat and "requests" in (one.spent or {})]
            for one in own:
                totals.update(one.spent)
                last = max(last, place.board)
            if own:
                money = sum(_amount(one, "money") for one in own)
                prices[place.board, entry].append(Measured(place.board, place.pairing.round, entry, money))
    for found in prices.values():
        if any(one.value for one in found):  # cached answers are free; without a price, all answers are
            yield from estimate(found)
    if totals["requests"]:
        parts = [f"{totals['requests']:,} requests", f"{totals['tokens_in']:,} tokens in", f"{totals['tokens_out']:,} tokens out"]
        parts += [f"cost {totals['money']:.4g}"] if totals["money"] else []
        cached = f"; {totals['from_cache']:,} of the answers are from the cache" if totals["from_cache"] else ""
        yield last, f"All language models of this run, excluding void matches: {', '.join(parts)}{cached}."


def measure_gap(spec: "Spec | None", matches: "Iterable[tuple[Record, Scheduled]]") -> Iterator[tuple[Any, ...]]:
    """Yield the gap between plain and disguised games for each entry with a disguise.

    The gap is the mean difference between its returns and the returns of the entry that differs only in having no disguise. Each
    difference is between two matches with the same opponents, seat and round.
    """
    assert spec is not None
    returns: dict[tuple[int, int], dict[tuple[int, int, tuple[int, ...]], float]] = defaultdict(dict)
    for record, place in matches:
        seats = place.pairing.seats
        for seat, entry in enumerate(seats):
            others = (*seats[:seat], *seats[seat + 1 :])
            returns[place.board, entry][place.pairing.round, seat, others] = record.returns[seat]
    for number, board in enumerate(spec.boards):
        span = board.game.max_return - board.game.min_return
        for disguised, plain in _find_twins(board).items():
            own, other = returns[number, disguised], returns[number, plain]
            gaps = [Measured(number, key[0], disguised, other[key] - own[key]) for key in sorted(own.keys() & other.keys())]
            yield from estimate(gaps, -span, span)


def _find_twins(board: "Board") -> dict[int, int]:
    """Return the entries in disguise, each with the entry that differs from it only in this option."""
    asked: dict[str, dict[bool, int]] = defaultdict(dict)
    for entry, seat in enumerate(board.seats):
        if seat.agent in MODELS:
            options = dict(seat.settings.options)
            disguised = bool(options.pop("disguise"))
            asked[repr([sorted(options.items()), seat.limits])].setdefault(disguised, entry)
    return {found[True]: found[False] for found in asked.values() if len(found) == 2}


def _amount(decision: "Decision", name: str) -> float:
    return (decision.spent or {}).get(name, 0)


def share_legal_first(decisions: "Sequence[Decision]") -> float:
    """Return the share of decisions without an illegal or unreadable answer, so that the first answer was a legal move."""
    bad = ("retries", "illegal", "unreadable")
    return sum(not any(_amount(one, name) for name in bad) for one in decisions) / len(decisions)


def sum_tokens(decisions: "Sequence[Decision]") -> float:
    """Return the tokens of the questions and answers in some decisions."""
    return sum(_amount(one, "tokens_in") + _amount(one, "tokens_out") for one in decisions)


def mean_seconds(decisions: "Sequence[Decision]") -> float | None:
    """Return the mean number of seconds for an answer in some decisions."""
    requests = sum(_amount(one, "requests") for one in decisions)
    return sum(one.seconds for one in decisions) / requests if requests else None


def estimate(found: Iterable[Measured], low: float = 0.0, high: float = inf) -> Iterator[Estimate]:
    """Yield the mean of each entry. All values are between `low` and `high`."""
    rounds: dict[tuple[int, int], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in found:
        rounds[one.board, one.entry][one.round].append(one.value)
    for (board, entry), values in rounds.items():
        yield board, entry, *bound_mean(list(values.values()), low, high)


def bound_mean(clusters: list[list[float]], low: float, high: float) -> tuple[float, float | None, float | None]:
    """Return the mean of all values with its 95 % interval. Each cluster counts as one observation.

    The standard error is linearised over the clusters, as in `arena.stats.clustered_mean`, and the quantile is from Student's t.
    If `high` is finite, the interval is a score interval: its bounds are the means at which the distance to the observed mean is
    the quantile times the standard error at that mean. The variance is assumed to be proportional to (mean - low) (high - mean).
    For shares and one value per cluster, this is the interval of E. Wilson (1927). If all values lie at one end of the
    range, the variance cannot be estimated; then the variance of a share with one observation per cluster is used. If `high` is
    infinite, the interval is symmetric on the scale of the logarithm.
    """
    from arena.stats import student_quantile

    size, count = sum(map(len, clusters)), len(clusters)
    mean = sum(map(sum, clusters)) / size
    if count < 2:
        return mean, None, None
    squares = sum((sum(values) - mean * len(values)) ** 2 for values in clusters)
    quantile = student_quantile(count - 1, 0.975)
    reach = quantile * sqrt(squares * count / (count - 1)) / size
    above = mean - low
    if high == inf:
        return (mean, mean, mean) if above <= 0 else (mean, low + above * exp(-reach / above), low + above * exp(reach / above))
    share = above / (high - low)
    inner = share * (1 - share)
    factor = (reach / (high - low)) ** 2 / inner if 1e-12 < share < 1 - 1e-12 else quantile**2 / count
    middle = (share + factor / 2) / (1 + factor)
    half = sqrt(max(0.0, factor * inner + factor**2 / 4)) / (1 + factor)
    ends = [low + (high - low) * min(1.0, max(0.0, end)) for end in (middle - half, middle + half)]
    return mean, ends[0], ends[1]
