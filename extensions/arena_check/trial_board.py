"""The boards of `arena try`. Agents play on a board against built-in agents until the time is up; then the place of an entry is
printed.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import ceil, floor
from shlex import quote
from typing import IO, Any, NamedTuple

from arena import CHANCE, Agent, ArenaError, Game, Registry, Spec, play, run
from arena.api.cli import Terminal
from arena.api.errors import escape_controls
from arena.api.match import Step
from arena.api.results import BoardInfo, Leaderboard, PairedGames, TextTable, figures, tallies_of
from arena.api.run import PlayedMatch, Scheduled
from arena.api.spec import Board, load_spec
from arena.api.store import Run, TemporaryStore
from arena.clock import monotonic
from arena.stats import SIGNIFICANCE_LEVEL, Pair
from arena_catalog.catalogue import choose_games, explain_no_game, text_width
from arena_check.check_process import CheckProgress
from arena_check.trial import own_move_limit
from arena_setup.match_setup import make_patient

PUZZLE_NODES = 5_000
GAME_NODES = (200, 1_500)
"""Minimum and maximum node limit of a decision in a game."""
PLIES_SEEN = 2
"""The node limit of a decision suffices to search this many plies. With fewer, `lookahead` would not find a move."""
MAX_MOVES = 200
"""The move limit of a match if the game does not set one by `default_moves`."""
ROUND_MARGIN = 1.5
"""The seconds that are proposed for a round are so many times those that its matches probably take."""
ROUNDS = 20
"""Maximum number of rounds of a board."""
MAX_CRASHES = 3
"""A board ends after this many crashes of the agent that is tried."""

MIN_PAIRS = 6
"""Minimum number of different game pairs that can distinguish two entries. If one entry wins all of n pairs, the p-value of the
sign-flip test is 2 / 2 ** n, which is at most 0.05 for 6 pairs, but not for 5.
"""
NO_ROUND = "not ranked, because there was not enough time for a round"
TOO_FEW_PAIRS = "has played too few different games for a verdict against"
"""The text for results that come from too few different pairs."""
BUDGET_ADVICE = "`limits` in a spec sets a budget for all agents."


def move_limit_of(game: Game) -> int:
    """Return the move limit of the matches in which a game is tried."""
    return own_move_limit(game) or MAX_MOVES


class Enough(Exception):
    """Ends a board when its time is up, or after MAX_CRASHES crashes."""


class Tried(NamedTuple):
    """A leaderboard, and the game pairs on which its tests are based."""

    board: Leaderboard
    pairs: Mapping[tuple[str, str], Sequence[Pair]]
    """The game pairs of every two entries, keyed by the two in either order; empty for games with more than two seats."""
    rounds: int
    """The number of finished rounds."""
    remarks: tuple[str, ...] = ()
    """The reasons why fewer games were played, as sentences, if they are not printed below the leaderboard."""


@dataclass(frozen=True, slots=True)
class TrialBoard:
    """The boards on which one plugin is tried. Their matches end at the time `until` of the monotonic clock."""

    registry: Registry
    file: str
    plugins: tuple[str, ...]
    seed: int
    out: IO[str]
    until: float
    progress: CheckProgress
    only: tuple[str, ...] = ()
    """The games in which agents are tried; if empty, all games that they can play."""
    told: set[str] = field(default_factory=set)
    """The advice that was printed so far. It is about the whole output, so it is printed only once. Remarks are printed
    below every board to which they apply."""

    details: bool = True
    """False if leaderboards and their notes are left out for agents and heuristics, so that the result fits on a screen."""
    as_json: bool = False
    """True if only the reports are printed, as lines of JSON."""

    def report(self, **values: Any) -> None:
        """Print values as a line of JSON, if JSON is wanted."""
        if self.as_json:
            self.progress.clear()
            print(json.dumps(values), file=self.out, flush=True)

    def say(self, text: str = "") -> None:
        """Print a part of the result, wrapped to the width of the terminal. Nothing is printed if JSON is wanted."""
        self.progress.clear()
        if self.as_json:
            return
        print(escape_controls(TextTable.fold(text, Terminal(self.out).room)), file=self.out, flush=True)

    @property
    def plugin_options(self) -> str:
        """The plugins that the user has named besides the file, as options of a command; each begins with a space."""
        others = [plugin for plugin in self.plugins if plugin != self.file]
        return "".join([f" --plugin {quote(plugin)}" for plugin in others])

    @property
    def width(self) -> int:
        """Number of columns for text."""
        return text_width(self.out)

    def games(self, agent: type[Agent]) -> list[Game]:
        """Return the games that an agent can play with their default parameters. Raises ArenaError if there are none.

        If the file has such games, these are all. Otherwise, games of requested plugins come first, then a few built-in games.
        There are only a few, because with more boards each would have too few matches.
        """
        chosen, sources = choose_games(self.registry, agent)[0], self.registry.sources
        if not chosen:
            reason = explain_no_game(self.registry, agent)
            raise ArenaError(f"{self.file}: {reason}; or load the plugin of another game with --plugin GAME.py")
        names = [name for name in chosen if sources["game", name].name == self.file]
        names = names or [name for name in chosen if sources["game", name].asked or sources["game", name].own]
        return [chosen[name] for name in names]

    def plays_own_game(self, agent: type[Agent]) -> bool:
        """Return whether an agent can play a game that the file has, too."""
        return any(self.registry.sources["game", name].name == self.file for name in self.registry.games_for(agent))

    def nodes(self, game: Game) -> int:
        """Return the node limit of a decision. In a game, the limit suffices for a search of PLIES_SEEN plies, but stays within
        GAME_NODES.

        For this, every state is assumed to have as many actions as the state with the most actions in a random match.
        """
        if game.players == 1:
            return PUZZLE_NODES
        record = play(game, ["random"] * game.players, seed=self.seed, limits={"moves": move_limit_of(game)})
        states = [step.state for step in Step.follow(game, record)]
        asked = [state for state in states if not game.is_terminal(state) and game.to_move(state) is not CHANCE]
        widest: int = max([len(game.actions(state)) for state in asked], default=0)
        fewest, most = GAME_NODES
        return min(most, max(fewest, sum([int(widest**ply) for ply in range(1, PLIES_SEEN + 1)])))

    def spec(self, game: Game, agents: Sequence[str | Mapping[str, Any]]) -> Spec:
        """Return the spec of a board: a game with its default parameters, and ROUNDS rounds. Its limits are patient, so that the
        author sees moves of the agent, and no random ones. The first of the agents, which is tried, plays in the first match.
        """
        if game.players == 2 and len(agents) % 2 and len(agents) > 1:  # in the Berger tables, the first of an odd number rests
            agents = [agents[1], agents[0], *agents[2:]]
        keys: dict[str, Any] = {
            "name": "try",
            "game": game.name,
            "agents": list(agents),
            "rounds": ROUNDS,
            "seed": self.seed,
            "limits": {"nodes": self.nodes(game), "moves": move_limit_of(game)},
        }
        if game.players > 3:  # a round of all orders would have 720 matches with six seats, too many for the time
            keys["format"] = {"name": "round-robin", "orders": "rotations"}
        return make_patient(load_spec(keys, plugins=self.plugins), keys["limits"])

    def play(self, spec: Spec, seconds: float, watched: str | None = None) -> Tried:
        """Play for `seconds`, print the leaderboard of the finished rounds, and return it with its game pairs. For an entry
        `watched`, it is printed only with `details`; otherwise, `remarks` of the result belong below the place of the entry.

        An unfinished round counts only if it is the first round, or if the entry `watched` has crashed MAX_CRASHES times.
        """
        self.progress.at(f"trying {self.file} on {spec.boards[0].title}", spec.boards[0].name)
        until = monotonic() + seconds
        played: list[PlayedMatch] = []
        crashes = 0

        def note(one: PlayedMatch) -> None:
            nonlocal crashes
            played.append(one)
            record = one.record
            crashes += record.termination == "crash" and record.seat is not None and record.labels[record.seat] == watched
            if monotonic() > until or crashes == MAX_CRASHES:
                raise Enough

        with suppress(Enough):
            run(spec, observe=note)
        a_round = spec.boards[0].size // ROUNDS
        finished_rounds = max(1, len(played) // a_round)  # all matches count if no round is finished
        whole = played if crashes == MAX_CRASHES else played[: finished_rounds * a_round]
        sheet = replace(BoardInfo.of(spec.boards[0]), size=len(whole))  # so that no round is missing
        with TemporaryStore() as store:
            store.begin(Run.of(spec))
            for one in whole:
                store.add(Scheduled(*one[:3]), one.record)
            store.flush()
            (tally,) = tallies_of(store, [sheet])
        board = Leaderboard.of(tally, finished=True)
        brief = watched is not None and not self.details
        if not brief:
            self.say()
            shown = [replace(board, cross=None, rows=tuple(filter(has_played, board.rows)) or board.rows)]
            self.say(Leaderboard.render(replace(spec, name=self.file), shown, width=Terminal(self.out).room))
        remarks: list[str] = []
        if crashes == MAX_CRASHES:
            remarks.append(f"{watched} crashed {MAX_CRASHES} times, so no more games were played.")
        elif len(whole) < ROUNDS * a_round:
            rounds = figures.amount(finished_rounds, "round")
            matches = rounds if len(whole) >= a_round else f"{len(whole)} of the {a_round} matches of a round"
            slow = None if watched is None else _describe_slowness(watched, played)
            if slow is not None or not brief:
                more = _describe_enough(spec.boards[0], whole, watched, seconds + monotonic() - until)
                remarks.append(f"There was enough time for {matches}{slow or ''}; {more}.")
        if not brief:
            for remark in remarks:
                self.say(remark)
            most = f"{spec.boards[0].seats[-1].limits.nodes:,} nodes"
            self.say(
                f"Default limits: an agent that reports its best action so far stops after {most}, and any other agent "
                "decides without a limit."
            )
            if BUDGET_ADVICE not in self.told:
                self.told.add(BUDGET_ADVICE)
                self.say(BUDGET_ADVICE)
        labels = tally.sheet.labels
        there = {(labels[one], labels[two]): pairs for (one, two), pairs in tally.matches.pairings().items()}
        there |= {(two, one): [pair.swapped() for pair in pairs] for (one, two), pairs in there.items()}
        return Tried(board, there, len(played) // a_round, tuple(remarks) if brief else ())


def _describe_enough(board: Board, played: Sequence[PlayedMatch], watched: str | None, seconds: float) -> str:
    """Return the options that give more time. If a part of the first round took some seconds, they suffice for a round.

    The matches of the entry `watched` take most of the time.
    """
    if watched is None or len(played) * ROUNDS >= board.size:
        return "--seconds S gives more time"
    share = board.game.players / len(board.seats)  # every entry plays in this share of the matches of a round
    own = max(1, sum(watched in one.record.labels for one in played))
    needed = ceil(ROUND_MARGIN * seconds / own * share * board.size / ROUNDS)
    unit = int(10 ** max(0, len(str(needed)) - 2))
    return f"--game {board.game.name} --seconds {-(-needed // unit) * unit} is probably enough for a round"


def _describe_slowness(label: str, played: Sequence[PlayedMatch]) -> str | None:
    """Return the time that an entry takes for a decision, as a reason, if it took more than half of the time of all entries."""
    spent = [(one.record.labels[step.seat], step.seconds) for one in played for step in one.record.decisions]
    own = [seconds for name, seconds in spent if name == label]
    if sum(own) <= sum(seconds for _, seconds in spent) / 2:
        return None
    return f", because {label} took {figures.duration(sum(own) / len(own))} for a decision"


def place(board: Leaderboard, label: str) -> str:
    """Return the place as text such as `place 2 of 6`; `shared` is added if another entry has the same place. A failed entry has
    no place, and entries that have not played do not count.
    """
    row, played = row_of(board, label), list(filter(has_played, board.rows))
    if row not in played:
        return "not ranked, because it has not played"
    if row.get("failures"):
        matches = row["games"] if board.kind == "versus" else row["attempts"]
        what = "game" if board.kind == "versus" else "attempt"
        return f"not ranked, because it failed in {row['failures']:,} of {figures.amount(matches, what)}"
    shared = sum(other["rank"] == row["rank"] for other in played) > 1
    return f"place {row['rank']} of {len(played)}{', shared' if shared else ''}"


def against_each(tried: Tried, label: str) -> str:
    """Return a sentence with the scores of an entry. The sentence says which entries are worse, which are better, and which
    cannot be distinguished from it. If there are too few pairs, it has only the scores; if it has played a single game
    against each, not even these.

    An entry is better than another one if the leaderboard can tell the two apart, by the ratings from the games of all entries,
    and the entry has more than half of the points of their games.
    If mean returns rank the board, they decide here, too, because an entry may win most games and still get less.
    """
    board = tried.board
    labels = [row["agent"] for row in board.rows]
    scores = board.cross[labels.index(label)] if board.cross else ()
    by_returns, words = board.ranked_by == "mean_return", ("is better than", "is worse than")
    if by_returns:
        words = ("has a higher mean return than", "has a lower mean return than")
    groups: dict[str, list[str]] = {word: [] for word in (*words, "cannot be distinguished from", TOO_FEW_PAIRS)}
    for other, score in zip(labels, scores, strict=True):
        if score is not None:
            lead = score - 0.5
            if by_returns:
                lead = row_of(board, label)["mean_return"] - row_of(board, other)["mean_return"]
            shown = figures.figure(row_of(board, other)["mean_return"]) if by_returns else percent(score)
            word = _withhold(tried, label, other, lead) or words[lead < 0]
            groups[word].append(f"{other} ({shown})")
    results = "; ".join([f"{word} {figures.listing(names)}" for word, names in groups.items() if names])
    games = row_of(board, label)["games"] // max(1, sum(score is not None for score in scores))
    if games < 2:
        return "has played too few games for scores"
    number, unit = (games // 2, "pair") if tried.pairs and games > 1 else (games, "game")
    games_each = f"{figures.amount(number, unit)}{' of games' * (unit == 'pair')}"
    if by_returns:
        own = figures.figure(row_of(board, label)["mean_return"])
        return f"{results}; the numbers are mean returns, its own is {own}, in {games_each} against each agent"
    rated = ", and ratings from the games of all agents decide" if "better than" in results or "worse than" in results else ""
    scored = "its scores" if tried.pairs else "how often it finishes ahead"
    return f"{results}; the percentages are {scored} in {games_each} against each agent{rated}"


def _withhold(tried: Tried, label: str, other: str, lead: float) -> str | None:
    """Return the words for two entries without a verdict; None if the leaderboard can tell them apart."""
    pairs, row = tried.pairs.get((label, other)), row_of(tried.board, label)
    by_returns = tried.board.ranked_by == "mean_return"
    if not by_returns and "superiority" not in row:  # it is not rated
        return TOO_FEW_PAIRS
    if pairs is not None and sum(PairedGames.count_pairs(pairs)) < MIN_PAIRS:
        return TOO_FEW_PAIRS
    if other not in row["level_with"] and lead:
        return None
    if pairs is not None and not by_returns and PairedGames.estimate_score(pairs).p_value <= SIGNIFICANCE_LEVEL:
        return TOO_FEW_PAIRS  # these games differ, but not after the correction for all tests of the board
    return "cannot be distinguished from"


def has_played(row: Mapping[str, Any]) -> bool:
    """Return whether the entry of a row has played a match."""
    return bool(row.get("games", row.get("attempts")))


def row_of(board: Leaderboard, label: str) -> dict[str, Any]:
    """Return the row of one entry."""
    return next(row for row in board.rows if row["agent"] == label)


def percent(share: float | None) -> str:
    """Format a share as a percentage for a sentence. Halves are rounded up."""
    return figures.share(None if share is None else floor(round(100 * share, 6) + 0.5) / 100, 0)
