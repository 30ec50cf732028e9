"""The process in a sandbox that loads the spec of a bundle. Code from a bundle runs only here.

`arena_bundle.sandboxed` starts two such processes. The first one lists the schedule and plays matches again. It gets no records,
so the code of the bundle cannot simply repeat them. The second one gets a store with all records, and compares them with the
rules.
"""

import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import isclose
from pathlib import Path
from typing import Any

from arena import Pairing, Puzzle, Record, Spec, SpecError, load_plugins
from arena.api.cli import distribution
from arena.api.errors import Interrupted, call_foreign, describe
from arena.api.games import Chance
from arena.api.match import Differs, Position, Seat, Step, find_loser
from arena.api.processes import PythonProcess
from arena.api.results import Leaderboard
from arena.api.run import Batch, MatchRunner, Schedule, Scheduled
from arena.api.spec import Document, reload_spec
from arena.api.store import Run, Store, TemporaryStore
from arena_bundle.layout import TOURNAMENT, Code, list_repeated
from arena_bundle.sandboxed import LOOKS, RECORDS_PER_ANSWER, stand_ins
from arena_isolation.command import COMMAND
from arena_isolation.helper_process import serve
from arena_isolation.versions import CODE, PluginVersion, SharedCode, seal_submission
from arena_records.contradictions import find_contradiction
from arena_records.rules import compare_with_rules
from arena_solution.luck import Luck

BATCH_MATCHES = 500
MAX_DIFFERENCES = 20
"""The maximum number of differences in one answer."""
NATIVE_PROGRAM = b"\x7fELF"
TIMED, WAITING, NATIVE = "time limits", "language models and other services", "native engines"
MISSING = "entries that cannot be loaded here"
"""Reasons why a match cannot be replayed."""


class ReplayHost:
    """Answers requests about the spec of one bundle."""

    spec: Spec
    schedule: Schedule
    runner: MatchRunner
    followed: Iterator[list[str]]
    luck: Luck
    way: str | None
    unsure: int
    """The number of records in the current answer with adjusted returns that could not be confirmed."""
    missing: Collection[int] = ()
    """The entries that cannot be loaded here. Another agent has their places, but plays no match."""

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request. If something fails, the answer has the key `fault`."""
        try:
            found: dict[str, Any] = getattr(self, f"do_{request['do']}")(request)
            return found
        except Interrupted:
            raise
        except BaseException as error:  # the code of a bundle may raise anything
            return {"fault": describe(error)}

    def do_load(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Load the spec. Return its boards, and the hashes of its schedule and code, which are compared with the bundle's.

        Also return the reasons why the matches of entries cannot be replayed, and whether the schedules depend on results.
        `missing` contains the entries that cannot be loaded here, with their reasons, and `invalid` the faults of a spec that
        nobody can have played.
        """
        root, code = Path(request["root"]), Code(**request["code"])

        def load(values: Mapping[str, Any]) -> Spec:
            return load_spec_of(root, values, request["document"], code, request["seed"])

        missing: dict[int, str] = {}
        try:
            self.spec, missing = load_parts(load, request["values"], request["labels"])
        except SpecError as error:
            if not is_invalid(load, request["values"], request["labels"], str(error)):
                raise
            nothing: dict[str, Any] = {
                "boards": [],
                "hash": "",
                "parts": {},
                "own": {},
                "reasons": [],
                "follows": [],
                "missing": [],
                "foreign": [],
            }
            return {**nothing, "invalid": str(error)}
        self.missing = missing.keys()
        self.schedule, self._taken = Schedule(self.spec), Batch()
        run = Run.of(self.spec)
        foreign = [key for key, source in self.spec.registry.sources.items() if not (source.own or source.asked)]
        parts: dict[str, list[str]] = {}
        for fingerprint in run.plugins.values():
            for part, digest in fingerprint.hashes.items():
                parts.setdefault(part, []).append(digest)
        return {
            "boards": json.loads(json.dumps([board.as_dict() for board in run.boards], default=str)),
            "hash": run.hash,
            "parts": parts,
            "own": {
                name: (one.version, list(one.hashes))
                for name, one in run.plugins.items()
                if name.startswith(f"{distribution()}:") and not self.missing
            },
            "reasons": [
                [
                    MISSING if entry in self.missing else find_reason(seat, self.spec.document.folder)
                    for entry, seat in enumerate(board.seats)
                ]
                for board in self.spec.boards
            ],
            "follows": [board.format.follows_results for board in self.spec.boards],
            "missing": list(missing.items()),
            "foreign": [name for kind, name, *_ in foreign if kind == "column"],
            "invalid": None,
        }

    def do_take(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the next matches of the schedule, with their ids.

        The id is null if an agent in the match cannot be loaded here, or asks a service, because the bundle hides its host.
        """
        self._taken = self.schedule.take(BATCH_MATCHES)
        ids = [
            None
            if one.asks_outside(self.spec) or not set(one.pairing.seats).isdisjoint(self.missing)
            else one.match_id(self.spec)
            for one in self._taken
        ]
        plain = [[*one[:2], one.pairing.round, one.pairing.seats, key] for one, key in zip(self._taken, ids, strict=True)]
        return {"matches": plain}

    def do_tell(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Pass the results of the matches from the last `take` to the schedule, which may depend on them."""
        for one, (returns, played, adjusted, loser) in zip(self._taken, request["results"], strict=True):
            known, corrected = [None if values is None else tuple(values) for values in (returns, adjusted)]
            self.schedule.tell(one, known, played, corrected, loser)
        return {}

    def do_play(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Play a match again, and return its record without times."""
        number, board, turn, seats = request["match"]
        if not hasattr(self, "runner"):
            self.runner = MatchRunner(self.spec)
        record = self.runner.play(Scheduled(number, board, Pairing(turn, tuple(seats))))
        return {"record": list_repeated(record), "message": record.message, "traceback": record.traceback}

    def do_follow(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Compare the next records of the store with the rules, and return the differences.

        If `luck` is "exact", adjusted returns are compared, too. They may depend on policies of the agents. So if `luck` is
        "heuristic", because other agents have the places of those in the spec, adjusted returns that the default heuristic of the
        game does not give are counted as `unsure`. If `luck` is None, they are not compared.
        """
        if not hasattr(self, "followed"):
            self.followed, self.luck = self._follow_all(Path(request["store"])), Luck(self.spec)
        self.way, self.unsure = request["luck"], 0
        differences: list[str] = []
        for _ in range(RECORDS_PER_ANSWER):
            found = next(self.followed, None)
            if found is None:
                return {"differences": differences[:MAX_DIFFERENCES], "over": True, "unsure": self.unsure}
            differences += found
        return {"differences": differences[:MAX_DIFFERENCES], "over": False, "unsure": self.unsure}

    def do_boards(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Compute the boards from the records, with the columns and rankings of plugins."""
        schedule = Schedule(self.spec)
        with Store.open(request["store"]) as store, TemporaryStore() as own:
            own.begin(Run.of(self.spec))
            for record, place in store.records(boards=True):
                if place is not None:
                    own.add(place, record)
                    returns = None if record.termination == "void" else record.returns
                    schedule.tell(place, returns, loser=find_loser(record.termination, record.seat))
            own.end(schedule.rankings(), self.spec)
            boards = Leaderboard.read(own, None)
            # the columns of the stored run, as in run.json; the key `report` fills its columns only when a board is shown
            columns = [board.as_dict()["plugin_columns"] for board in own.last().boards]
        return {"boards": Leaderboard.document(Run.of(self.spec), boards)["boards"], "columns": columns}

    def _follow_all(self, place: Path) -> Iterator[list[str]]:
        position = lru_cache(1)(lambda board, turn: self.spec.boards[board].positions[turn])
        with Store.open(place) as store:
            for record, scheduled in store.records(boards=True):
                if scheduled is not None:
                    yield [f"match {record.id}: {text}" for text in self._follow(record, scheduled, position)]

    def _follow(self, record: Record, scheduled: Scheduled, position_of: Any) -> list[str]:
        board, turn = self.spec.boards[scheduled.board], scheduled.pairing.round
        if record.termination == "void":
            return [] if record.position == "" else self._follow_void(record, scheduled, position_of)
        wrong = find_contradiction(record, board.game)
        if wrong is not None:
            return [wrong]
        position: Position = position_of(scheduled.board, turn)
        if record.position != position.text:
            return [f"position: recorded {record.position!r}, but the spec gives {position.text!r}"]
        positions = board.positions
        chance = Chance.of(positions.game, positions.key(turn), positions.repetition(turn)) if board.has_chance else None
        try:
            steps = list(Step.follow(board.game, record, position.state, chance))
            moves = board.seats[scheduled.pairing.seats[0]].limits.moves
            found = compare_with_rules(board.game, record, steps[0], steps[-1], moves, board.adjudication)
            return found or self._follow_luck(record, scheduled, position)
        except Differs as differs:
            return [str(differs)]
        except Exception as error:  # the rules may be code of the bundle
            return [f"the rules fail: {describe(error)}"]

    def _follow_luck(self, record: Record, scheduled: Scheduled, position: Position) -> list[str]:
        """Compare the adjusted returns of a match with those that follow from its actions."""
        if self.way is None:
            return []
        exact = self.way == "exact" and len(self.spec.registry.parts["correction"]) == 1  # plugins may define others
        correct = self.luck if exact else self.luck.correct_by_heuristic
        has_chance = self.spec.boards[scheduled.board].has_chance
        found = call_foreign(partial(correct, scheduled, record, position), lambda _: None) if has_chance else None
        given = record.adjusted
        if given == found or (given and found and all(map(partial(isclose, abs_tol=1e-9), given, found))):
            return []
        if exact:
            return [f"adjusted: recorded {given}, but the rules give {found}"]
        self.unsure += 1
        return []

    def _follow_void(self, record: Record, scheduled: Scheduled, position_of: Any) -> list[str]:
        """A fault of the game makes a match void. If the game reaches its end and gives its returns, it has no fault."""
        board, turn = self.spec.boards[scheduled.board], scheduled.pairing.round
        if isinstance(board.game, Puzzle):
            return []
        positions = board.positions
        try:
            chance = Chance.of(positions.game, positions.key(turn), positions.repetition(turn)) if board.has_chance else None
            last = list(Step.follow(board.game, record, position_of(scheduled.board, turn).state, chance))[-1]
            over = board.game.is_terminal(last.state) and len(board.game.returns(last.state)) == len(record.labels)
        except Exception:  # this may be the fault
            return []
        return ["termination: void is impossible, because the game has reached its end by the rules"] if over else []


def load_spec_of(root: Path, values: Mapping[str, Any], name: str, code: Code, seed: int | str) -> Spec:
    """Load the spec of a bundle that was unpacked into `root`. Raises SpecError or PluginError if that fails.

    This process is in a sandbox already, so agents with `isolation: sandbox` get processes without a further sandbox.
    """
    here = {plugin.source.name for plugin in load_plugins().plugins if plugin.problem is None}
    modules = [module for module, source in code.installed.items() if source not in here]
    plugins = [str(root / plugin) if (root / plugin).is_file() else plugin for plugin in code.plugins]
    versions = {}
    for one in code.versions:
        folders = None if one.folders is None else ("", os.pathsep.join([str(root / folder) for folder in one.folders]))
        plugin = str(root / one.plugin) if one.plugin == one.file else one.plugin
        file = root / one.file
        found = PluginVersion(one.text, plugin, str(file), folders, "", submitted=one.submitted)
        digest = seal_submission(file).code if one.sealed else found.hash()
        versions[one.agent, one.submitted, one.text] = replace(found, code=digest, sealed=one.sealed)
    programs = {word: str(root / place) for word, place in code.programs.items()}
    given = _replace_sandboxes({key: value for key, value in values.items() if key != "plugins"})
    document = Document(name, given, root / TOURNAMENT)
    return reload_spec(document, [*plugins, *modules], seed, shared={CODE: SharedCode(versions=versions), COMMAND: programs})


def load_parts(
    load: Callable[[Mapping[str, Any]], Spec], values: Mapping[str, Any], labels: Sequence[str] | None
) -> tuple[Spec, dict[int, str]]:
    """Load a spec. Each entry that cannot be loaded here, such as an engine that is not installed, is replaced by another agent.

    Return these entries, too, with the reasons. `labels` are the labels of the entries; without them, nothing is replaced.
    """
    try:
        return load(values), {}
    except Exception:
        agents = values.get("agents")
        if labels is None or not isinstance(agents, list) or len(agents) != len(labels):
            raise
        instead: list[Any] = [*stand_ins(labels)]
        missing: dict[int, str] = {}
        for number, agent in enumerate(agents):
            try:
                load({**values, "agents": [*instead[:number], agent, *instead[number + 1 :]]})
            except Exception as error:  # the library of an agent may raise anything
                missing[number] = describe(error)
        if not 0 < len(missing) < len(agents):
            raise
        spec = load({**values, "agents": [instead[one] if one in missing else agent for one, agent in enumerate(agents)]})
        if any([seat.label for seat in board.seats] != list(labels) for board in spec.boards):
            raise
        return spec, missing


def is_invalid(
    load: Callable[[Mapping[str, Any]], Spec], values: Mapping[str, Any], labels: Sequence[str] | None, fault: str
) -> bool:
    """Return whether a spec has a fault that depends neither on its entries nor on what is installed here.

    The game and the format are known here, but the rest of the spec has the same fault with other agents.
    """
    if labels is None:
        return False
    known = {key: one for key, one in values.items() if key in ("game", "games", "format")}
    plain = {key: one for key, one in values.items() if key not in (*LOOKS, "isolation")}
    try:
        load({**known, "agents": stand_ins(labels)})
    except Exception:  # the library of a game may raise anything
        return False
    try:
        load({**plain, "agents": stand_ins(labels)})
    except SpecError as error:
        return str(error) == fault
    return False


def _replace_sandboxes(value: Any) -> Any:
    if isinstance(value, list):
        return [_replace_sandboxes(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    replaced = {key: _replace_sandboxes(one) for key, one in value.items()}
    return {**replaced, "isolation": "process"} if replaced.get("isolation") == "sandbox" else replaced


def find_reason(seat: Seat, folder: Path) -> str | None:
    """Return the reason why the matches of an entry cannot be replayed; None if they can."""
    if seat.limits.timed:
        return TIMED
    if seat.waits:
        return WAITING
    program = seat.program
    if program is None or program.command is None:
        return None
    texts = [word for word in program.command if (file := folder / word).is_file() and not _is_native(file)]
    named = shutil.which(program.command[0])
    return NATIVE if program.adapter is not None or not (texts or (named and not _is_native(Path(named)))) else None


def _is_native(file: Path) -> bool:
    with file.open("rb") as content:
        return content.read(len(NATIVE_PROGRAM)) == NATIVE_PROGRAM


if __name__ == "__main__":
    serve(ReplayHost().answer, *PythonProcess.take_pipes())
