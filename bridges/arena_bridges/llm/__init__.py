"""Language models behind an OpenAI-compatible address, used as agents."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from arena import Agent, hookimpl
from arena.api.results import BoardColumn, Measured
from arena_bridges.llm.agent import LanguageModel
from arena_bridges.llm.intervals import estimate

if TYPE_CHECKING:
    from arena import Decision, Record, Spec
    from arena.api.run import Scheduled
    from arena.api.spec import Board

__all__ = ["LanguageModel", "arena_agents", "arena_board_columns"]

MODELS = frozenset({LanguageModel.name})


@hookimpl
def arena_agents() -> Iterable[type[Agent]]:
    """Return the agent."""
    return [LanguageModel]


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
            description="Gain in mean return in matches without disguise, which estimates the effect of recall.",
            cells=measure_gap(spec, records),
            agents=MODELS,
        ),
        _sum_up("requests", "Requests", "Answered requests."),
        _sum_up("retries", "Retries", "Number of requests that followed an answer that could not be played."),
        _sum_up("illegal", "Illegal", "Number of answers with an illegal move."),
        _sum_up("unreadable", "Unreadable", "Answers without a move."),
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
