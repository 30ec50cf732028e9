"""A board under review, with its judges and the key under which their answers are stored."""

import os
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from arena import ArenaError, Game, Puzzle, Record, Registry, UnknownName, __version__, load_plugins
from arena.api.cli import load
from arena.api.games import Ends, Traits, move_limit, settings
from arena.api.match import canonical
from arena.api.processes import PythonProcess
from arena.api.results import BoardInfo
from arena.api.run import Fingerprint
from arena.api.search import COMPILE, search_engines
from arena.api.spec import Parameters
from arena_isolation.helper_process import pack, serve
from arena_review.api import BoardJudge, Review
from arena_review.deepening import spec_of
from arena_review.judges import JUDGES, TIED_JUDGES
from arena_review.puzzle_judge import RegretJudge, find_overestimate

MIN_PLAYER_NODES = 1000
"""If the players had fewer nodes for a decision, a judge gets this number of nodes, multiplied by its effort."""


def find_player_nodes(sheet: BoardInfo, records: Sequence[Record], only: str | None = None) -> int:
    """Return the number of nodes that the players had for a decision. If all entries have a node limit, it is the largest limit.
    Otherwise, it is the largest mean of an entry, rounded up to a power of two. With `only`, only the entry with this label
    counts.
    """
    limits = [sheet.limits_of(entry).get("nodes") for entry, label in enumerate(sheet.labels) if only in (None, label)]
    if all(limit is not None for limit in limits):
        return max(MIN_PLAYER_NODES, *[int(limit or 0) for limit in limits])
    used: dict[str, list[int]] = defaultdict(list)
    for record in records:
        for decision in record.decisions:
            if only in (None, record.labels[decision.seat]):
                used[record.labels[decision.seat]].append(decision.nodes)
    most = max([fmean(nodes) for nodes in used.values()], default=0.0)
    return max(MIN_PLAYER_NODES, 1 << max(0, round(most) - 1).bit_length())


def find_move_limit(game: Game, records: Sequence[Record]) -> int:
    """Return the move limit of matches: the number of moves of the longest one that the limit ended, if there is one, and
    otherwise the default of the game.
    """
    return max([record.moves or 0 for record in records if record.termination == "move-limit"], default=move_limit(game))


class JudgedBoard:
    """The judges for a board, the strongest first."""

    def __init__(self, review: Review, only: str | None) -> None:
        """Open all judges that support the game, or the one named `only`. Raises ArenaError if the named judge does not support
        the game.
        """
        self.game: Game = review.game
        self.review = review
        if only is not None and only not in JUDGES:
            raise UnknownName("judge", only, list(JUDGES))
        known = {**JUDGES, **TIED_JUDGES} if Ends.may_differ(self.game) else JUDGES
        wanted = [known[only]] if only is not None else list(known.values())
        refusals = {judge.name: judge.refuses(self.game) for judge in wanted}
        if only is not None and refusals[only] is not None:
            raise ArenaError(f"--judge {only} cannot be used for {review.setup['name']}: {refusals[only]}")
        self.refusals = {name: reason for name, reason in refusals.items() if reason is not None}
        self.kinds = [judge for judge in wanted if refusals[judge.name] is None]
        if any(judge.name == "equilibrium" for judge in self.kinds):  # an estimate of the same decisions would be weaker
            self.kinds = [judge for judge in self.kinds if judge.name != "estimate" or only is not None]
        self.judges: list[BoardJudge] = [judge.open(review) for judge in self.kinds]
        self.kinds = [
            kind._replace(description=kind.description + judge.certainty) if isinstance(judge, RegretJudge) else kind
            for kind, judge in zip(self.kinds, self.judges, strict=True)
        ]

    def why_none(self) -> str | None:
        """Return the reason why no judge supports the game; None if one does."""
        if self.kinds:
            return None
        name = self.review.setup["name"]
        if "simultaneous" in Traits.of(self.game):
            return f"{name} has simultaneous moves, and no judge in this release supports such games"
        return f"no judge fits {name}: " + "; ".join([f"{judge}: {reason}" for judge, reason in self.refusals.items()])

    def compile(self, note: Callable[[str], object]) -> None:
        """Compile the searches of the judges that have an engine. When one is not compiled, `note` is called with the reason."""
        before = os.environ.get(COMPILE)
        os.environ[COMPILE] = before or "always"
        try:
            for word in {judge.word for judge in self.judges if judge.word is not None}:
                for engine in search_engines():
                    engine.prepare(spec_of(self.review, word), note)
        finally:
            os.environ.pop(COMPILE)
            if before is not None:
                os.environ[COMPILE] = before

    def key(self) -> str:
        """Return the text that names the board in the file of stored answers. The text changes whenever the code of the game
        does.
        """
        code = {source: found.text for source, found in Fingerprint.take_all(spec_of(self.review, "random")).items()}
        return canonical([self.review.setup, __version__, code])


def open_board(
    sheet: BoardInfo,
    folder: Path,
    plugins: Sequence[str],
    nodes: int,
    effort: int,
    only: str | None,
    registry: Registry | None = None,
    records: Sequence[Record] = (),
) -> JudgedBoard | None:
    """Return the judges for a board of a store; None if the game cannot be loaded. `folder` is the folder of the spec. `records`
    are the stored matches of the board, whose solutions may contradict a heuristic.
    """
    registry = registry or load(plugins)
    game = sheet.make_game(registry, folder)
    if game is None:
        return None
    setup = {"name": sheet.game["name"], **Parameters.make_plain(settings(game))}  # its paths are valid in every process
    wrong = find_overestimate(game, sheet.game["name"], registry, records) if isinstance(game, Puzzle) else None
    return JudgedBoard(Review(game, setup, tuple(plugins), nodes, effort, wrong, find_move_limit(game, records)), only)


class Answerer:
    """Answers questions in a worker process. A request is a list [board, judge, question], in which the board and the judge are
    given by their numbers.
    """

    def __init__(self, boards: Sequence[Mapping[str, Any]], plugins: Sequence[str]) -> None:
        registry = load_plugins(plugins)
        self._boards = []
        for given in boards:
            kind = registry.game(given["game"]["name"])
            game = kind(**{key: value for key, value in given["game"].items() if key != "name"})
            facts = [given[name] for name in ("nodes", "effort", "overestimate", "moves")]
            review = Review(game, given["game"], tuple(plugins), *facts)
            self._boards.append(JudgedBoard(review, given["only"]))

    def answer(self, asked: Sequence[Any]) -> Any:
        """Return the answer to a question."""
        board, judge, question = asked
        return self._boards[board].judges[judge].answer(question)


def main(plugins: Sequence[str]) -> None:
    """Answer requests until there are no more. The first request describes the boards."""
    pipes = PythonProcess.take_pipes()
    os.dup2(2, 1)
    made: list[Answerer] = []

    def answer(request: Any) -> bytes:
        if not made:
            made.append(Answerer(request, plugins))
            return pack("ready")
        return pack(made[0].answer(request))

    serve(answer, *pipes)
    os._exit(0)  # plugins may have left threads behind


if __name__ == "__main__":
    main(sys.argv[1:])
