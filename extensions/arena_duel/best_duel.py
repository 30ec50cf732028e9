"""Finds the best of several variants of an agent in a contest. The variants are different files, or different values of its
options. The result is stored beside the store with the games of the contest.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from re import fullmatch
from typing import Any, Self

from arena import ArenaError, Spec
from arena.api.errors import StoreError
from arena.api.results import Leaderboard, figures
from arena.api.store import Run, Store, write_whole
from arena_duel.decision_limits import describe_drawn, describe_plies, describe_sizes
from arena_duel.version_folder import KeptVersion, VersionFolder
from arena_pairings.best_of import BestOf, ContestResult
from arena_setup.words import split_at_commas, values_of

DEFAULT_GAMES = 100_000
"""The maximum number of games in a contest, if the user sets none."""
BETTER, LEVEL, WORSE, UNDECIDED = "better", "no relevant difference", "worse", "undecided"
"""The possible verdicts on the first variant."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant of an agent: its code and its options."""

    label: str
    agent: str
    version: KeptVersion
    options: Mapping[str, Any]

    def entry(self) -> dict[str, Any]:
        """Return the entry of this variant in a spec (a tournament file)."""
        return {"agent": self.agent, "version": str(self.version.file), "label": self.label, **self.options}


@dataclass(frozen=True, slots=True)
class Standing:
    """The score and the rating of one variant in a contest."""

    name: str
    agent: str
    file: str
    code: str
    options: dict[str, Any]
    pairs: int
    score: float | None
    """The mean score over all games of this variant in the contest (a variant plays only against variants that are not eliminated
    yet); None without a finished pair of games.
    """
    elo: float | None
    """The rating from all games of the contest, on a scale on which the mean of the variants is 0. None if its interval has only
    one bound.
    """
    elo_low: float | None
    """The lower bound of the 95 % interval of the rating; None if there is none, because the variant lost every game."""
    elo_high: float | None
    still_in: bool
    worse_than: list[str]
    """The variants that were found to be better, either directly or because they are better than a third variant that is better
    than this one.
    """
    level_with: list[str]
    """The variants that were found to differ from this one by at most the margin of the test."""
    random_moves: float | None = None
    """The share of random moves, which replace decisions that a limit ended before an action was reported."""


@dataclass(frozen=True, slots=True)
class PastContest:
    """The result of a contest, as it is written to the file next to its store."""

    number: int
    store: str
    started: str
    ended: str | None
    game: dict[str, Any]
    limits: dict[str, Any]
    margin: float
    risk: float
    games: int
    max_games: int
    answer: str | None
    """The best variant; None if the contest is undecided."""
    ties: list[str]
    """The other variants that remained at the end. The best variant is better than each of them, or worse by at most the margin.
    """
    verdict: str
    """The verdict on the first variant."""
    sentence: str
    variants: list[Standing]
    plies: int = 4
    """The number of random moves before each game."""
    remarks: Sequence[str] = ()
    """Sentences about the test."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a contest from a file. Raises ArenaError if the file is damaged."""
        try:
            values = json.loads(path.read_text())
            return cls(**{**values, "variants": [Standing(**one) for one in values["variants"]]})
        except (ValueError, TypeError, KeyError) as error:
            raise ArenaError(f"{path}: expected the result of a contest ({error}); remove this file") from error

    def as_dict(self) -> dict[str, Any]:
        """Return the contest as plain values that can be written as JSON."""
        return asdict(self)

    def report(self, history: str) -> list[str]:
        """Return the result as a sentence, a line for each variant, the store, and the command `history`."""
        lines = [f"{self.sentence}.", *self.remarks]
        for one in sorted(self.variants, key=lambda one: (one.name != self.answer, not one.still_in, -(one.score or 0))):
            share = None if one.score is None else figures.fixed(100 * one.score, 1)
            score = "no pair" if share is None else f"{share} % of the points in {figures.amount(one.pairs, 'pair')} of games"
            fate = "still in the contest" if one.still_in else f"worse than {', '.join(one.worse_than)}"
            lines.append(f"{one.name}: {score}, {fate}.")
        drawn = describe_drawn(self.limits, {one.name: one.random_moves for one in self.variants if one.random_moves})
        lines += [drawn] if drawn else []
        lines.append(f"{figures.amount(self.games, 'game')}; {describe_plies(self.plies)} (--openings).")
        return [*lines, f"Kept in {self.store}; use `{history}` to list all duels."]


def read_variants(words: Sequence[str]) -> tuple[list[str], dict[str, list[Any]]]:
    """Split words such as `depth=2,3`. Return the words with a single value, and the values of each option that has several."""
    single, several = [], {}
    for word in words:
        groups: list[list[str]] = []
        for piece in split_at_commas(word):
            if groups and not fullmatch(r"\s*[A-Za-z_]\w*\s*=.*", piece):
                groups[-1].append(piece)
            else:
                groups.append([piece])
        for first, *others in groups:
            if not others:
                single.append(first)
                continue
            key, _, text = first.partition("=")
            key = key.strip()
            if key in several:
                raise ArenaError(f"--set: {key} is given twice")
            several[key] = [values_of([f"{key}={one}"], what="--set")[key] for one in (text, *others)]
    return single, several


def list_variants(
    given: Sequence[str], agents: Sequence[str], kept: Sequence[KeptVersion], several: Mapping[str, Sequence[Any]]
) -> list[Variant]:
    """Return the variants in a contest: every file is combined with every combination of options. Raises ArenaError if two
    variants are the same.
    """
    stems = [Path(one).stem for one in given]
    names = stems if len(set(stems)) == len(stems) else list(given)
    found: list[Variant] = []
    for (name, agent, version), values in product(zip(names, agents, kept, strict=True), product(*several.values())):
        options = dict(zip(several, values, strict=True))
        told = ", ".join([f"{key}={value}" for key, value in options.items()])
        label = " ".join([*([name] if len(given) > 1 else []), *([told] if told else [])])
        for one in found:
            if (one.agent, one.version.code, one.options) == (agent, version.code, options):
                raise ArenaError(f"{one.label} and {label} are the same variant; the variants must differ")
        found.append(Variant(label, agent, version, options))
    return found


def place_of(folder: VersionFolder, spec: Spec) -> Path:
    """Return the path for the store of a contest. If a contest with the same conditions has begun already, this is its store;
    otherwise it is new.
    """
    wanted, number = Run.of(spec).hash, 0
    for place in sorted(folder.path.glob("*.db")):
        if fullmatch(r"\d+", place.stem):
            number = max(number, int(place.stem))
            with suppress(StoreError), Store.open(place) as store:
                if store.last().hash == wanted:
                    return place
    return folder.path / f"{number + 1:03}.db"


def keep_result(spec: Spec, variants: Sequence[Variant], place: Path, limits: Mapping[str, Any]) -> PastContest:
    """Return the result of a contest that has been played, and write it beside the store of the contest."""
    board = spec.boards[0]
    format_ = board.format
    assert isinstance(format_, BestOf)
    contest = format_.contest
    assert contest is not None
    with Store.open(place) as store:
        run = store.last()
        game = dict(run.boards[0].game)
    ratings: dict[str, tuple[float | None, float | None, float | None]] = {}
    rows = Leaderboard.load(place)[0].rows
    drawn = {row["agent"]: row["fallback_share"] for row in rows}
    for row in rows:
        low, high = row["rating_low"], row["rating_high"]
        ratings[row["agent"]] = (None if low is None or high is None else row["rating"], low, high)
    labels = [one.label for one in variants]
    still_in, (better, level) = contest.is_in[0].tolist(), contest.relations()
    standings = [
        Standing(
            one.label, one.agent, str(one.version.file), one.version.code, dict(one.options), len(scores),
            sum(scores) / len(scores) if scores else None, *ratings[one.label],
            still_in[number],
            [labels[other] for other in range(len(labels)) if better[other, number]],
            [labels[other] for other in range(len(labels)) if level[number, other]],
            drawn[one.label],
        )
        for number, (one, scores) in enumerate(zip(variants, format_.scores, strict=True))
    ]  # fmt: skip
    answer = int(contest.answers[0])
    ties = [number for number, still in enumerate(still_in) if still and number != answer] if answer >= 0 else []
    result = PastContest(
        int(place.stem), str(place), run.started, run.ended, game, dict(limits), format_.margin, format_.risk,
        format_.played, board.size, labels[answer] if answer >= 0 else None,
        [labels[one] for one in ties], UNDECIDED, "", standings, dict(spec.document.values.get("openings") or {}).get("plies", 0),
        describe_sizes(board.game, place),
    )  # fmt: skip
    result = replace(result, verdict=_judge_first(result), sentence=_describe(result))
    write_whole(place.with_suffix(".json"), f"{json.dumps(result.as_dict(), indent=2, allow_nan=False)}\n".encode())
    return result


def past_contests(folder: VersionFolder) -> list[PastContest]:
    """Return every contest in a folder, the oldest first."""
    return [PastContest.read(path) for path in sorted(folder.path.glob("*.json")) if fullmatch(r"\d+", path.stem)]


def _judge_first(contest: PastContest) -> str:
    first = contest.variants[0]
    if contest.answer is None:
        return UNDECIDED
    if first.name == contest.answer:
        return LEVEL if contest.ties else BETTER
    if not first.still_in:
        return WORSE
    return LEVEL if contest.answer in first.level_with else UNDECIDED


def _describe(contest: PastContest) -> str:
    """Return the result of a contest as a sentence."""
    still = tuple([one.name for one in contest.variants if one.still_in])
    near = next((one.level_with for one in contest.variants if one.name == contest.answer), [])
    level = tuple([name for name in contest.ties if name in near])
    rest_is_worse = all(set(still) <= set(one.worse_than) for one in contest.variants if not one.still_in)
    found = ContestResult(contest.answer, still, level, len(contest.variants), rest_is_worse, contest.margin, contest.risk)
    return found.explain()
