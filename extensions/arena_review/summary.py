"""Summarises the verdicts of a review by agent, by game and by position."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, inf
from typing import Any

from arena import Game, State
from arena.api.games import Traits
from arena.stats import clustered_mean
from arena_review.api import BEST, DECISIVE, GRADES
from arena_review.kept import Judged, PlaceKey

PLIES_IN_GROUP = 5
MAX_CHOICES_ALONE = 9
"""The largest number of legal actions that has a group of its own. Larger numbers are grouped by tens."""
MAX_GROUPS = 8
"""The maximum number of groups of plies, and of groups of legal actions by tens. For larger numbers, the groups are wider. It is
also the maximum number of openings that are listed, the ones with the largest loss first.
"""


@dataclass(frozen=True, slots=True)
class Group:
    """Decisions that are summarised together, such as those in one opening."""

    name: Any
    decisions: int
    """The number of decisions with a known loss."""
    loss: float | None
    """The mean loss; None if no loss is known."""
    without: int
    """The number of decisions without a verdict."""


@dataclass(frozen=True, slots=True)
class CostlyPosition:
    """A position in which an agent loses something. A position that occurred several times is listed once, and so are positions
    that look the same to the agent.
    """

    board: int
    position: str
    action: str
    """The action that lost most in this position."""
    best: str | None
    loss: float | None
    """The loss of this action; None if it is not a number."""
    grade: str
    judge: str
    total: float | None
    """The sum of all losses in this position; None if one of them is not a number."""
    times: int
    """The number of times that the agent lost something in this position."""
    match: str
    number: int

    @property
    def weight(self) -> tuple[float, int]:
        """Return the sort key; the costliest position comes first."""
        return -(inf if self.total is None else self.total), -GRADES.index(self.grade)


@dataclass(slots=True)
class AgentReview:
    """The decisions of one entry on a board."""

    board: int
    label: str
    decisions: int = 0
    """The number of decisions with more than one legal action."""
    judged: int = 0
    """The number of decisions with a grade."""
    estimated: int = 0
    """The number of decisions that have only an estimate."""
    matches: int = 0
    loss: float | None = None
    low: float | None = None
    high: float | None = None
    """`loss` is the mean loss of a decision, with the 95 % interval from `low` to `high`; see `estimate_loss`."""
    gap: float | None = None
    gap_low: float | None = None
    gap_high: float | None = None
    """`gap` is the loss of an entry in disguise in a match, minus the loss of the same entry without disguise, with its 95 %
    interval.
    """
    best: float | None = None
    """The share of the graded decisions in which the best action was played."""
    grades: dict[str, int] = field(default_factory=dict)
    unbounded: int = 0
    """The number of decisions whose loss is not a number, such as the ones that made a puzzle unsolvable."""
    judges: dict[str, int] = field(default_factory=dict)
    """The number of decisions with a verdict or an estimate by each judge, and without one, as `none`."""
    ungraded: dict[str, int] = field(default_factory=dict)
    """The number of decisions on which there can be no verdict, by the judge that has found this out."""
    by_ply: list[Group] = field(default_factory=list)
    by_opening: list[Group] = field(default_factory=list)
    by_choices: list[Group] = field(default_factory=list)
    worst: list[CostlyPosition] = field(default_factory=list)

    @property
    def without(self) -> float:
        """Return the share of decisions without a verdict; an estimate does not count as a verdict."""
        return 1.0 - self.judged / self.decisions if self.decisions else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the review as plain values."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        for name in ("by_ply", "by_opening", "by_choices"):
            plain[name] = [
                {"group": one.name, "decisions": one.decisions, "loss": one.loss, "without_verdict": one.without}
                for one in plain[name]
            ]
        plain["worst"] = [{name: getattr(one, name) for name in one.__slots__} for one in self.worst]
        return {**plain, "without_verdict": self.without}


def estimate_loss(sums: Sequence[float], counts: Sequence[int]) -> tuple[float | None, float | None, float | None]:
    """Return the mean loss of a decision with its 95 % interval, given the sum and the number of the losses in each match.

    Matches count as independent units. Losses are never negative, and a few large ones make up most of their sum. So the interval
    is symmetric on the scale of the logarithm: its bounds are the mean divided and multiplied by the same factor. In simulations,
    it covers the true mean more often than the symmetric interval and the percentiles of a bootstrap, which both end too low. If
    no match lost anything, the variance is unknown, and there is no interval.
    """
    mean, _, high = clustered_mean(sums, counts)
    if not mean or high is None:
        return mean, None, None
    factor = exp((high - mean) / mean)
    return mean, mean / factor, mean * factor


def sum_up(board: int, label: str, decisions: Sequence[Judged], alike: Mapping[PlaceKey, str]) -> AgentReview:
    """Return the review of one entry. For `alike`, see `costly_positions`."""
    judged = [one for one in decisions if one.grade is not None]
    counted = [one for one in judged if one.loss is not None]
    found = AgentReview(board, label, len(decisions), len(judged), sum(one.judge == "estimate" for one in decisions))
    found.matches = len({one.match for one in decisions})
    ungraded = Counter(one.judge for one in decisions if one.judge and one.grade is None and one.loss is None)
    found.ungraded = dict(ungraded)
    found.judges = dict(Counter(one.judge or "none" for one in decisions) - ungraded)
    found.grades = {grade: sum(one.grade == grade for one in judged) for grade in GRADES}
    found.unbounded = len(judged) - len(counted)
    sums: dict[str, list[float]] = defaultdict(list)
    for one in counted:
        sums[one.match].append(one.loss or 0.0)
    totals, counts = [sum(losses) for losses in sums.values()], [len(losses) for losses in sums.values()]
    found.loss, found.low, found.high = estimate_loss(totals, counts)
    found.best = found.grades[BEST] / len(judged) if judged else None
    wide = _widen(PLIES_IN_GROUP, max([one.ply + 1 for one in decisions], default=0))
    plies = _group(decisions, lambda one: one.ply // wide * wide)
    found.by_ply = [replace(one, name=f"{one.name + 1} to {one.name + wide}") for one in plies]
    tens = MAX_CHOICES_ALONE + 1
    broad = _widen(tens, max([one.choices - MAX_CHOICES_ALONE for one in decisions], default=0))
    choices = _group(decisions, lambda one: one.choices if one.choices < tens else tens + (one.choices - tens) // broad * broad)
    found.by_choices = [
        replace(one, name=f"{one.name}{f' to {one.name + broad - 1}' if one.name >= tens else ''}") for one in choices
    ]
    openings = _group(decisions, lambda one: one.opening)
    found.by_opening = sorted(openings, key=lambda group: -(group.loss or 0.0) * group.decisions)[:MAX_GROUPS]
    found.worst = costly_positions(judged, alike)
    return found


def _widen(width: int, count: int) -> int:
    """Return the smallest multiple of a width with which MAX_GROUPS groups hold `count` numbers."""
    return width * max(1, -(-count // (width * MAX_GROUPS)))


def _group(decisions: Iterable[Judged], key: Callable[[Judged], Any]) -> list[Group]:
    groups: dict[Any, list[Judged]] = defaultdict(list)
    for one in decisions:
        groups[key(one)].append(one)
    found = []
    for name, members in sorted(groups.items()):
        losses = [one.loss for one in members if one.grade is not None and one.loss is not None]
        without = sum(one.grade is None for one in members)
        found.append(Group(name, len(losses), sum(losses) / len(losses) if losses else None, without))
    return found


def find_alike(game: Game, decisions: Iterable[Judged]) -> dict[PlaceKey, str]:
    """Return, for each position of a board with a loss, the first position that looks the same to the mover. The result is empty
    for a game without hidden information.
    """
    if "hidden-information" not in Traits.of(game):
        return {}
    first: dict[tuple[int, State], str] = {}
    found: dict[PlaceKey, str] = {}
    for one in decisions:
        if one.grade not in (None, BEST):
            seen = one.seat, game.observation(game.parse_state(one.position), one.seat)
            found[one.board, one.position] = first.setdefault(seen, one.position)
    return found


def costly_positions(decisions: Iterable[Judged], alike: Mapping[PlaceKey, str]) -> list[CostlyPosition]:
    """Return each position with a loss once, the costliest first. Positions that `alike` maps to the same one count as one."""
    met: dict[PlaceKey, list[Judged]] = defaultdict(list)
    for one in decisions:
        if one.grade not in (None, BEST):
            met[one.board, alike.get((one.board, one.position), one.position)].append(one)
    found = []
    for (board, _), here in met.items():
        most = max(here, key=lambda one: (inf if one.loss is None else one.loss, GRADES.index(one.grade or BEST)))
        total = None if most.loss is None else sum([one.loss or 0.0 for one in here])
        told = most.action, most.best, most.loss, most.grade or BEST, most.judge or "", total, len(here), most.match, most.number
        found.append(CostlyPosition(board, most.position, *told))
    return sorted(found, key=lambda one: (*one.weight, one.position))


def first_decisive(decisions: Iterable[Judged]) -> dict[str, Judged]:
    """Return the first decisive mistake of each match that has one."""
    found: dict[str, Judged] = {}
    for one in sorted(decisions, key=lambda one: (one.match, one.number)):
        if one.grade == DECISIVE:
            found.setdefault(one.match, one)
    return found
