"""The trials of a tuning and the course of its search, for the pages of its store."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from re import fullmatch
from typing import Any

from arena import Record
from arena.api.results import figures, result_points
from arena.api.store import Run, Store
from arena_tune.matches import CONFIRM, SEARCH
from arena_tune.space import format_value
from arena_tune.terms import DEFAULT

ROWS = 20
"""The number of trials in the table."""
POINTS = 40
"""The maximum number of points on the curve of the best trial."""
LOG_RATIO = 20.0
"""If the largest value of an option is more than this many times the smallest one, the scale of the option is logarithmic."""
NOT_OPTIONS = {"agent", "label", "limits", "version", "isolation", "command", "plugin"}
"""Keys of an entry that are never options of the agent."""


@dataclass(frozen=True, slots=True)
class StoredSearch:
    """The trials of a search and their results, as the store of a tuning has them."""

    trials: Mapping[str, Mapping[str, Any]]
    """The entry of each trial, by its label."""
    results: Sequence[tuple[str, float]]
    """The results of trials, in the order in which they were played: the label, and the points or, in a game with one seat, the
    return."""
    rivals: bool
    """True if the opponents are entries other than the default."""
    alone: bool

    @classmethod
    def read(cls, store: Store) -> "StoredSearch | None":
        """Return the search in a store; None for other stores, and before the first match."""
        run = store.last()
        if not fullmatch(rf"({SEARCH}|{CONFIRM}) .+ [0-9a-f]{{8}}", run.name):
            return None
        trials: dict[str, Mapping[str, Any]] = {}
        rivals = False
        for other in store.runs():
            if other.name.startswith(SEARCH):
                challengers, opponents = _split(other)
                trials |= challengers
                rivals = rivals or bool(opponents - {DEFAULT})
        results = []
        alone = False
        for record, place in store.records():
            if record.termination == "void" or (place is not None and run.name.startswith(CONFIRM)):
                continue
            alone = alone or len(record.labels) == 1
            results += list(_results_of(record, trials))
        return cls(trials, results, rivals, alone) if results else None

    def scores(self, results: Sequence[tuple[str, float]]) -> dict[str, tuple[float, int]]:
        """Return the mean result and the number of matches of each trial."""
        found: dict[str, list[float]] = defaultdict(list)
        for label, result in results:
            found[label].append(result)
        return {label: (sum(own) / len(own), len(own)) for label, own in found.items()}


def _split(run: Run) -> tuple[dict[str, Mapping[str, Any]], set[str]]:
    """Return the entries of the trials in a run, by label, and the labels of their opponents."""
    values = run.spec["values"]
    count = values["format"].get("challengers", len(values["agents"]))  # a benchmark has no opponents
    entries = [{"agent": one, "label": one} if isinstance(one, str) else one for one in values["agents"]]
    labels = [str(one.get("label", one["agent"])) for one in entries]
    return dict(zip(labels[:count], entries[:count], strict=True)), set(labels[count:])


def _results_of(record: Record, trials: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for seat, label in enumerate(record.labels):
        if label in trials:
            alone = len(record.labels) == 1
            yield label, record.returns[0] if alone else result_points(record.results[seat], record.results[1 - seat])


def list_trials(store: Store, board: int) -> list[dict[str, Any]] | None:
    """Return the trials with the most matches as rows, the best score first; None for other stores.

    The matches of the confirmation do not count.
    """
    search = StoredSearch.read(store)
    if search is None:
        return None
    ranked = sorted(search.scores(search.results).items(), key=lambda item: (-item[1][1], -item[1][0]))[:ROWS]
    return [
        {"Options": label, "Matches": matches, "Mean result": figures.figure(score)} for label, (score, matches) in ranked
    ] or None


def show_course(store: Store, board: int) -> dict[str, Any] | None:
    """Return the curve of the best trial so far, and the scores of all trials over the values of each option."""
    search = StoredSearch.read(store)
    if search is None:
        return None
    total, best = len(search.results), []
    for point in range(1, min(POINTS, total) + 1):
        matches = point * total // min(POINTS, total)
        scores = search.scores(search.results[:matches])
        most = max([count for _, count in scores.values()])
        known = {label: score for label, (score, count) in scores.items() if 2 * count > most}
        leader = max(known, key=lambda label: known[label])
        best.append({"matches": matches, "score": known[leader], "options": leader})
    scores = search.scores(search.results)
    level = None
    if DEFAULT in scores:
        level = scores[DEFAULT][0]
    elif not (search.rivals or search.alone):
        level = 0.5
    options = {label: _flatten(entry) for label, entry in search.trials.items() if label in scores and label != DEFAULT}
    names = list(dict.fromkeys([name for one in options.values() for name in one]))
    slices = []
    for name in names:
        values = [(one[name], *scores[label]) for label, one in options.items() if name in one]
        if len({repr(value) for value, *_ in values}) > 1:
            slices.append(_slice(name, values))
    return {"best": best, "options": slices, "level": level, "unit": "" if search.alone else "%"}


def _flatten(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options in an entry of a spec, with the parameters of its heuristic."""
    found: dict[str, Any] = {}
    for key, value in entry.items():
        if key == "heuristic" and isinstance(value, dict):
            found |= {key if name == "name" else name: one for name, one in value.items()}
        elif key not in NOT_OPTIONS:
            found[key] = value
    return found


def _slice(name: str, values: Sequence[tuple[Any, float, int]]) -> dict[str, Any]:
    """Return the results of the trials by the value of an option. Values are converted to a scale from 0 to 1."""
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value, *_ in values)
    if numbers:
        low, high = min(value for value, *_ in values), max(value for value, *_ in values)
        logarithmic = low > 0 and high / low > LOG_RATIO
        shares = [(log(one / low) / log(high / low) if logarithmic else (one - low) / (high - low)) for one, *_ in values]
        ticks = [{"at": 0, "text": format_value(low)}, {"at": 1, "text": format_value(high)}]
    else:
        texts = list(dict.fromkeys([format_value(value) for value, *_ in values]))
        shares = [(texts.index(format_value(value)) + 0.5) / len(texts) for value, *_ in values]
        ticks = [{"at": (place + 0.5) / len(texts), "text": text} for place, text in enumerate(texts)]
    placed = [
        {"at": share, "value": format_value(value), "score": score, "matches": count}
        for share, (value, score, count) in zip(shares, values, strict=True)
    ]
    return {"name": name, "values": placed, "ticks": ticks}
