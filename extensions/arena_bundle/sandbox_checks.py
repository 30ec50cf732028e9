"""The checks of `arena verify` in a sandbox: the spec and its code, the schedule, replays, rules and columns of plugins."""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from arena import Record, load_plugins
from arena.api.cli import LiveLine
from arena.api.errors import Interrupted, IsolationError, abbreviate, describe
from arena.api.match import EXPANDED, UNREPEATABLE_ENDINGS
from arena.api.results import figures
from arena.api.run import Fingerprint
from arena.api.spec import PythonFile
from arena.api.store import Store
from arena.clock import perf_counter
from arena_bundle.file_checks import RECOMPUTED, FileChecks, find_differences
from arena_bundle.layout import BOARDS, RUN, SPEC, TOURNAMENT, Code, Contradiction, list_repeated, read_json
from arena_bundle.lot import LotSize, describe_bound, draw_lot, most_differing
from arena_bundle.replaced_entries import (
    find_wrong_settings,
    hides_host,
    keep_own_agents,
    list_labels,
    names_code,
    pick,
    replace_agents,
    without,
)
from arena_bundle.sandboxed import (
    ANSWER_SECONDS,
    LOAD_SECONDS,
    LOOKS,
    RECORDS_PER_ANSWER,
    Computed,
    Followed,
    HostFailed,
    Loaded,
    Replayed,
    SandboxedHost,
    Taken,
    Told,
)

MATCH_SECONDS, SECONDS_PER_RECORDED, MAX_MATCH_SECONDS = 120.0, 50.0, 7200.0
"""The timeout for one replay is the first number, plus the second number times the seconds that the recorded decisions took.
The timeout is at most the third number, because the author of a bundle can record any seconds."""
UNCOMPARED = ("labels", "seed", "message", "traceback")
"""Keys of a record that are not compared with the replay. Messages, for example, may contain the names of other files."""
NO_SHEET_KEYS = ("ranking", "plugin_columns", "settings")
"""Keys of a board that are compared apart, because they also depend on the matches or differ between versions."""
ENTRY_KEYS = ("timed", "soft", "optimal", "apart", "limits")
"""Keys of a board with the labels of entries. Without an entry that cannot be loaded here, the rest is compared."""
SECONDS_PER_MATCH = 1.0
"""The checks of the schedule and of the rules may take this time for each match, in addition to the timeout for one answer."""
PLAIN_FORMATS = ("round-robin", "benchmark", "head-to-head")
"""Formats with schedules that do not depend on the agents. Other formats may draw pairings by the hashes of agents."""
DRAWN_SCHEDULE = (
    "that the schedule is honest: its format uses the hashes of agents for draws, so code from the bundle computed it"
)
SAME_PROCESS = "that the replays are honest: code from the bundle plays them, and could have forged the answers"
LADDER_KEYS = ("title", "game", "kind", "test", "returns", "has_chance", "has_openings", "path_matters")
"""Keys of a board of a ladder that must be the same with other agents: its entries come and go, and it never ends."""
APART_KEYS = (*LADDER_KEYS, "labels", "size", "exact", "format", "options", "anchor", "ranked_by")
"""Keys of a board that must be the same with other agents."""
LOOK_KEYS = ("columns", "sort")
"""Keys of a board that may name columns of plugins."""
LADDER_FORMAT = "ladder"
"""The format of the boards that a ladder plays. They have an anchor even if the spec names none."""
AUTHORS_WORD = "only the author says so"
OLD_DECISIONS = (
    "the expanded states and the agents whose actions were random: the records lack them, perhaps because another version of "
    "arena wrote them"
)
COMPLETE = "the schedule is complete: no match was added or dropped"
RULES = "all records follow the rules of their games, and their positions and chance events follow from the seed"
MAX_NAMED = 5
"""The maximum number of entries that a verdict names with the reason why they cannot be loaded."""
MISSING_MODULE = re.compile(r"(?:^|: )ModuleNotFoundError: No module named '(\w{1,60})", re.MULTILINE)
FAILED_RULES = re.compile(r"match [0-9a-f]{32}: the rules fail: ")
"""How a difference begins if the rules could not be computed. Other differences may quote texts of the bundle."""


class SandboxChecks:
    """The checks that run code from a bundle, such as replays. They follow the checks of its files."""

    def __init__(self, files: FileChecks, root: Path, size: LotSize, seed: int | None) -> None:
        self._files, self._root, self._size, self._seed = files, root, size, seed
        self._archive, self._store, self._verdict = files.archive, files.store, files.verdict
        self._file, self._values, self._last = files.file, files.values, files.last
        self._line = LiveLine(sys.stderr)
        self._lot: list[str] | None = None
        """The matches that are drawn; None if none was drawn yet."""
        self._foreign: Collection[str] = ()
        """The columns of plugins that are installed here, but are not arena's own."""
        self._is_compared = self._has_own_agents = False
        """Whether the boards were compared with the spec and its own code, and whether the spec needs no code but arena's."""
        self._computed = False
        """Whether the ranks and columns of formats and plugins were computed again."""
        self._unplayed = Counter[str]()
        """For each module that is missing here, the number of drawn matches that need it."""

    def run(self) -> None:
        """Check the schedule, replay matches, and compare all records with the rules. The code for this runs in sandboxes.

        If matches cannot be replayed, the rest is still checked, with agents of arena in place of those in the spec.
        """
        self._archive.extract(self._root)
        replays = self._files.replays
        self._has_code = replays and (self._file.code != Code() or names_code(self._values))
        if self._has_code:
            self._hash_plugins()
        try:
            if replays:
                try:
                    self._check_with_code()
                except HostFailed as error:
                    what = "not replayed" if self._lot is None else "not compared with the code of the bundle"
                    self._verdict.not_shown.append(f"{what}: {self._explain(error)}")
                    replays = False
            if not replays and (reason := self._check_apart()):
                self._verdict.not_shown.append(f"the records were not compared with the rules: {reason}")
                if not self._is_compared:
                    self._note(f"the columns, limits and all else that {RUN} says about the boards: {AUTHORS_WORD}")
        except IsolationError as error:
            self._verdict.not_shown.append(f"{'not replayed' if replays else 'records not compared with the rules'}: no sandbox")
            self._verdict.notes.append(str(error))
        except HostFailed as error:
            self._verdict.not_shown.append(f"the records were not compared with the rules: {self._explain(error)}")
        except Contradiction as error:
            self._verdict.contradictions.append(str(error))
        except (Interrupted, MemoryError):
            raise
        except Exception as error:  # code of the bundle can change the answers from the sandbox
            self._verdict.not_shown.append(f"not replayed: an answer from the sandbox is not valid ({describe(error)})")
        finally:
            self._line.show("")
        names = list_computed(self._file.boards)
        if names and not self._computed and not self._verdict.contradictions:
            self._note(f"not computed again, because only code of a format or plugin gives them: {names}")
            self._verdict.shown[:] = [
                f"{text}, except for {names}" if text.startswith(RECOMPUTED) else text for text in self._verdict.shown
            ]
        if self._has_code and self._verdict.replayed:
            self._verdict.limits.append(SAME_PROCESS)
        if self._verdict.contradictions and self._files.has_other_versions:
            self._verdict.notes.append(
                "different versions may explain a difference, if the bundle names its versions truly; verify again with them"
            )

    def _explain(self, error: HostFailed) -> str:
        """Return why the sandbox could not answer, without the temporary folder of the files."""
        module = self._find_missing(str(error))
        return f"{module} is not installed" if module else str(error).replace(f"{self._root}/", "")

    def _find_missing(self, text: str) -> str | None:
        """Return the module that the code could not import, according to the text of its error.

        The code could invent this error in order to hide a difference. So it counts only if the module is really missing here.
        """
        path = [str(self._root / one) for one in (TOURNAMENT, *self._file.code.folders)]
        for name in MISSING_MODULE.findall(text):
            if name not in sys.stdlib_module_names and name not in sys.modules and not PathFinder.find_spec(name, path):
                found = find_spec(name)  # of a name without dots, which imports nothing
                if found is None or found.origin is None:  # any folder counts as a namespace package
                    return str(name)
        return None

    def _check_with_code(self) -> None:
        """Make the checks that load the spec with its own agents."""
        with SandboxedHost(self._root, self._file.code.folders) as host:
            reasons = self._load(host)
            drawn = {sheet.format for sheet in self._last.boards} - set(PLAIN_FORMATS)
            if self._missing and drawn:
                self._verdict.not_shown.append(
                    f"the schedule: the format {', '.join(sorted(drawn))} draws with the hashes of all agents"
                )
            else:
                self._check_schedule(host)
            self._replay_lot(host, reasons)
        apart = self._check_apart(luck=None) if self._has_code else "the bundle has no code"
        with SandboxedHost(self._root, self._file.code.folders, [self._store.parent]) as host:
            self._load(host)
            if apart or any(sheet.has_chance for sheet in self._last.boards):
                self._follow_rules(host, "exact" if self._files.one_version and not self._missing else "heuristic")
            if not self._missing:
                self._check_columns(host)
            elif any(sheet["plugin_columns"] or sheet["ranking"] for sheet in self._file.boards):
                self._verdict.not_shown.append("the columns and remarks of plugins, because some entries are missing here")
        if self._has_code and apart:
            self._verdict.not_shown.append(
                "the schedule and the rules were checked only by code from the bundle, which found no difference, but could have "
                f"forged the answers: {apart}"
            )
            self._verdict.shown[:] = [text for text in self._verdict.shown if text not in (COMPLETE, RULES)]

    def _load(self, host: SandboxedHost) -> list[list[str | None]]:
        """Load the spec in the sandbox, and compare the spec and its code with the rest of the bundle.

        For each entry of each board, return the reason why its matches cannot be replayed; None if they can.
        """
        found = self._ask_for_spec(host, self._values, self._file.code, list_labels(self._file.boards))
        if found.invalid and self._files.same_version:
            raise Contradiction(f"{SPEC} is not a valid spec: {'; '.join(found.invalid.splitlines())}")
        if found.invalid:
            raise HostFailed(found.invalid)
        self._missing = {number for number, _ in found.missing}
        labels = list_labels(self._file.boards) or []
        for number, why in found.missing[:MAX_NAMED]:
            text = f"{labels[number]} cannot be loaded here, so its matches are not replayed: {'; '.join(why.splitlines())}"
            self._verdict.not_shown += [] if text in self._verdict.not_shown else [text]
        for number, (given, computed) in enumerate(zip(self._file.boards, found.boards, strict=False)):
            gone = {labels[one] for one in self._missing}
            left, right = (
                {key: without(one, gone) if key in ENTRY_KEYS else one for key, one in sheet.items() if key not in NO_SHEET_KEYS}
                for sheet in (given, computed)
            )
            self._compare_sheet(number, left, right)
            known, listed = computed.get("settings", ()), given.get("settings", ())
            if len(listed) != len(known):
                raise Contradiction(f"board {number + 1} has the settings of {len(listed)} entries, the spec has {len(known)}")
            here = [[one for place, one in enumerate(both) if place not in self._missing] for both in (listed, known)]
            for entry in find_wrong_settings(*here):
                self._differ(f"board {number + 1}: the settings {abbreviate(entry)} are not those of the entry in the spec")
        if self._missing:
            self._note("the settings, limits and hashes of the entries that cannot be loaded here, and the hash of the run")
        elif found.hash != self._last.hash:
            text = f"{RUN}: the hash of the last run is {self._last.hash}, but {found.hash} for the spec"
            if hides_host(self._values):
                self._note(f"{text}, in which hosts are replaced")
            else:
                self._differ(text)
        if len(self._file.boards) != len(found.boards):
            raise Contradiction(f"the bundle has {len(self._file.boards)} boards, the spec {len(found.boards)}")
        if [len(board) for board in found.reasons] != [len(board.labels) for board in self._last.boards]:
            raise HostFailed("an answer from the sandbox does not match the boards of the bundle")
        self._declared, self._follows, self._foreign, self._is_compared = found.boards, found.follows, found.foreign, True
        self._compare_code(found)
        return found.reasons

    def _compare_sheet(self, number: int, given: Mapping[str, Any], computed: Mapping[str, Any]) -> None:
        """Compare values of a board with those that follow from the spec."""
        if lacking := [key for key in computed if key not in given]:
            self._differ(f"board {number + 1} is not the board of the spec: {', '.join(lacking)} is missing")
        if differences := list(find_differences(given, computed, "", subset=not self._files.same_version)):
            raise Contradiction(f"board {number + 1} is not the board of the spec: {'; '.join(differences[:3])}")

    def _note(self, text: str) -> None:
        """Say once that something was not shown. The spec is loaded more than once."""
        self._verdict.not_shown += [] if text in self._verdict.not_shown else [text]

    def _differ(self, text: str) -> None:
        """Raise Contradiction, unless another version of arena made the bundle; this may explain the difference."""
        if self._files.same_version:
            raise Contradiction(text)
        self._note(f"{text}; perhaps because another version of arena made the bundle")

    def _compare_code(self, found: Loaded) -> None:
        """Compare the code that the spec uses with the code that played. Without some entries, their code is not compared."""
        recorded: dict[str, set[str]] = {}
        for fingerprint in self._last.plugins.values():
            for part, digest in fingerprint.hashes.items():
                recorded.setdefault(part, set()).add(digest)
        named = Counter([part for one in self._last.plugins.values() for part in one.hashes])
        twice = [part for part, digests in found.parts.items() if named[part] > len(digests)]
        if twice and not self._missing:
            self._differ(f"{RUN}: more than one plugin of the last run has {', '.join(twice[:5])}")
        for name, (version, parts) in found.own.items():
            recorded_one = self._last.plugins.get(name)
            if recorded_one is None or not recorded_one.hashes.keys() >= set(parts) or recorded_one.version != version:
                self._differ(f"{RUN}: the plugins of the last run lack {name} {version} with {', '.join(parts[:5])}")
        known_parts = {part: one for part, one in found.parts.items() if part in recorded or not self._missing}
        changed = [part for part, digests in known_parts.items() if not recorded.get(part, set()).issuperset(digests)]
        installed = set(self._file.code.installed.values())  # of these plugins, another version may be installed here
        excused = {part for name, one in self._last.plugins.items() if name in installed for part in one.hashes}
        if changed and self._files.same_version and not excused.issuperset(changed):
            raise Contradiction(f"the code of {', '.join(changed[:5])} is not the code that played the matches")
        if changed:
            text = f"the code of {', '.join(changed[:5])} has changed since the matches were played; perhaps its version differs"
            self._verdict.not_shown += [] if text in self._verdict.not_shown else [text]
        unused = [part for part in recorded if part not in found.parts]
        if unused and not self._missing and not excused.issuperset(unused):
            names = ", ".join([part or "a plugin without code" for part in unused[:5]])
            self._differ(f"{RUN}: the plugins of the last run have {names}, which the spec does not use")

    def _ask_for_spec(
        self, host: SandboxedHost, values: Mapping[str, Any], code: Code, labels: Sequence[str] | None = None
    ) -> Loaded:
        self._line.show("loading the spec and its code")
        seed, document = self._last.secret or self._file.seed, self._file.document
        return host.ask(
            Loaded,
            "load",
            LOAD_SECONDS,
            root=str(self._root),
            values=values,
            document=document,
            seed=seed,
            code=code.model_dump(),
            labels=labels,
        )

    def _hash_plugins(self) -> None:
        """Compute the hashes of plugins from the texts of their files, because their code could change its own hash.

        Packages are left out: which of their files count depends on what has been imported.
        """
        path = [*[str(self._root / one) for one in self._file.code.folders], *sys.path]
        for plugin in self._file.code.plugins:
            file = self._root / plugin
            if file.suffix != ".py" or not self._archive.has(plugin):
                continue
            files = {file, *PythonFile(file).find_imported(path)}
            if any((one.parent / "__init__.py").exists() for one in files):
                continue
            digests = {Fingerprint.hash_files({one, *PythonFile(one).find_imported(path)}) for one in files}
            for name, found in self._last.plugins.items():
                if name.partition("/")[2] == file.name and not digests.issuperset(found.hashes.values()):
                    text = f"{plugin} is not {name}, the code that played the matches: their hashes differ"
                    (self._verdict.contradictions if self._files.same_version else self._verdict.not_shown).append(text)

    def _check_apart(self, luck: str | None = "heuristic") -> str:
        """Check the schedule and the rules in a process without code from the bundle. Return why not, if that is impossible.

        Code from the bundle could change the answers of its own process. The rules do not depend on the agents, so here agents of
        arena take their places. With the formats in PLAIN_FORMATS, this also applies to the schedule. If the boards were not
        compared with the spec and its own code before, they are compared here. `ReplayHost.do_follow` describes `luck`.
        """
        known = load_plugins(environ=False).games
        games = [sheet.game["name"] for sheet in self._last.boards if sheet.game["name"] not in known]
        if games:
            return f"the game {games[0]} is not one of arena's games"
        is_ladder = self._file.ladder
        values = replace_agents(self._values, self._file.boards, is_ladder=is_ladder)
        if values is None:
            return "the boards have different agents"
        with SandboxedHost(self._root, (), [self._store.parent]) as host:
            try:  # to load the spec with other agents
                found = self._ask_for_spec(host, values, Code()) if self._is_compared else self._load_apart(host, values)
            except HostFailed as error:
                return self._explain(error)
            if len(found.boards) != len(self._file.boards):
                raise Contradiction(f"the bundle has {len(self._file.boards)} boards, the spec {len(found.boards)}")
            for number, (given, made) in enumerate(zip(self._file.boards, found.boards, strict=True)):
                left, right = pick(given, made, LADDER_KEYS if is_ladder else APART_KEYS)
                if not self._is_compared:
                    self._compare_sheet(number, left, right)
                elif reason := next(find_differences(left, right, f"boards[{number}]", subset=False), ""):
                    return reason
            self._follows = found.follows
            drawn = sorted({sheet.format for sheet in self._last.boards} - set(PLAIN_FORMATS))
            if drawn and self._has_code:
                self._verdict.limits.append(f"{DRAWN_SCHEDULE} ({', '.join(drawn)})")
            elif drawn and not is_ladder:
                self._verdict.not_shown.append(f"the schedule: the format {', '.join(drawn)} draws with the hashes of all agents")
            elif not is_ladder:
                self._check_schedule(host, ids=False)
            exact = luck is not None and self._files.one_version and self._has_own_agents
            self._follow_rules(host, "exact" if exact else luck)
        return ""

    def _load_apart(self, host: SandboxedHost, values: Mapping[str, Any]) -> Loaded:
        """Load the spec without its code, and compare the boards with it as far as possible. Name what cannot be compared.

        Agents of arena itself keep their places if the spec can then be loaded.
        """
        is_ladder, labels = self._file.ladder, list_labels(self._file.boards) or []
        looks = {key: self._values[key] for key in LOOKS if key in self._values and key != "plugins"}
        own, others = (None, set(labels)) if is_ladder else keep_own_agents(self._values, labels)
        ways = [({**looks, "agents": own}, others)] if own is not None else []
        ways += [(looks, set(labels)), ({}, set(labels))]
        for extra, gone in ways:
            try:
                found = self._ask_for_spec(host, {**values, **extra}, Code())
            except HostFailed:
                if not extra:
                    raise
                continue
            if not gone or all(sheet.get("labels") == labels for sheet in found.boards):
                break
        self._has_own_agents = not is_ladder and not gone
        for number, (given, made) in enumerate(zip(self._file.boards, found.boards, strict=False)):
            if extra or not looks:
                self._compare_sheet(number, *pick(given, made, LOOK_KEYS))
                named = (self._values.get("report") or {}).get("columns") or ()
                reported = [
                    [one["column"] for one in sheet.get("plugin_columns", ()) if one["column"]["key"] in named]
                    for sheet in (given, made)
                ]
                if reported[0] != reported[1]:
                    self._differ(f"board {number + 1}: its columns are not those of the key report in the spec")
            if is_ladder:
                self._check_ladder_board(number, given, made)
                continue
            for key in ENTRY_KEYS:
                self._compare_sheet(
                    number, *[{key: without(sheet[key], gone)} if key in sheet else {} for sheet in (given, made)]
                )
            settings = [zip(sheet["labels"], sheet.get("settings", ()), strict=False) for sheet in (given, made)]
            known = [{label: {**one, "key": None} for label, one in each if label not in gone} for each in settings]
            if known[0] != known[1]:
                self._differ(f"board {number + 1}: its settings are not those of the entries in the spec")
        if gone and not is_ladder:
            self._note(f"the settings and limits of {', '.join(one for one in labels if one in gone)}: {AUTHORS_WORD}")
        if not extra and looks:
            self._note(f"the columns of the boards and the order of their rows: {AUTHORS_WORD}")
        return found

    def _check_ladder_board(self, number: int, given: Mapping[str, Any], made: Mapping[str, Any]) -> None:
        """Check what ranks a board of a ladder, and its anchor: the first entry of the spec, if the spec names none."""
        if given.get("format") != LADDER_FORMAT:  # a tournament
            self._compare_sheet(number, *pick(given, made, ("format", "anchor", "ranked_by", "options")))
            return
        first = self._values["agents"][0]
        house = first.get("label") or first.get("agent") if isinstance(first, dict) else first
        is_puzzle = made["kind"] == "puzzle"
        expected: dict[str, Any] = {"anchor": None if is_puzzle else made["anchor"] or house}
        if is_puzzle:
            self._note(f"what ranks board {number + 1}: {AUTHORS_WORD}")
        else:
            expected["ranked_by"] = "rating"
        if expected["anchor"] not in (None, *given["labels"]):  # arena chose the label, or hid the name of a person
            del expected["anchor"]
            self._note(f"the anchor of board {number + 1}: {AUTHORS_WORD}")
        self._compare_sheet(number, *pick(given, expected, expected))

    def _find_key(self, place: Sequence[Any]) -> Any:
        """Return what finds a match in the schedule: its number if the schedule depends on results, or else its round and seats.

        The order of a schedule that does not depend on results may differ between versions of arena.
        """
        number, board, turn, seats = place
        return number if self._follows[board] else (board, turn, *seats)

    def _check_schedule(self, host: SandboxedHost, *, ids: bool = True) -> None:
        """Compare the places of all matches with the schedule of the spec, and their ids, too, if `ids` is true."""
        end = perf_counter() + ANSWER_SECONDS + SECONDS_PER_MATCH * self._verdict.matches
        taken, most = 0, sum(sheet.size for sheet in self._last.boards)
        with Store.open(self._store) as store:
            places = defaultdict[Any, list[tuple[list[Any], str]]](list)
            for number, board, turn, seats, key in store.query(
                "SELECT p.number, p.board, p.round, p.seats, lower(hex(r.id)) FROM place p JOIN record r ON r.number = p.record "
                "ORDER BY p.number"
            ):
                place = [number, board, turn, [int(seat) for seat in seats.split(",")]]
                places[self._find_key(place)].append((place, key))
            complete, count, moved = True, sum(map(len, places.values())), ""
            while complete and (places or self._files.is_complete):
                batch = host.ask(Taken, "take")
                if not batch.matches:
                    break
                taken += len(batch.matches)
                if taken > most or perf_counter() > end:
                    raise HostFailed("the schedule did not finish")
                results: list[Any] = []
                for match in batch.matches:
                    place, key = list(match[:4]), match[4]
                    where = self._find_key(place)
                    if where not in places:
                        if self._files.is_complete:
                            raise Contradiction(f"match {place[0]} of the schedule is missing: {abbreviate(place)}")
                        complete = complete and self._last.boards[match[1]].exact
                        results.append([None, None, None, None])
                        continue
                    known, identity = places[where].pop(0)
                    if not places[where]:
                        del places[where]
                    if known[1:] != place[1:] or (ids and key not in (None, identity)):
                        raise Contradiction(
                            f"match {identity} is not match {place[0]} of the schedule, which the spec determines: expected "
                            f"{abbreviate((*place, key))}"
                        )
                    if known[0] != place[0] and not moved:
                        numbers = f"{known[0]:,} in the schedule, but {place[0]:,} according to the spec"
                        moved = f"match {identity} has the number {numbers}"
                    facts = store.has([identity])[identity]
                    results.append([facts.returns, facts.play_hash, facts.adjusted, facts.loser])
                host.ask(Told, "tell", results=results)
                self._line.show(f"{min(taken, count):,} of {count:,} places compared with the schedule")
        if places and complete:
            raise Contradiction(f"match {next(iter(places.values()))[0][1]} is not in the schedule of the spec")
        if moved and self._files.same_version:
            raise Contradiction(moved)
        if moved and (text := f"the order of the matches: {moved}") not in self._verdict.not_shown:
            self._verdict.not_shown.append(text)
        if complete and self._files.is_complete and COMPLETE not in self._verdict.shown:
            self._verdict.shown.append(COMPLETE)

    def _replay_lot(self, host: SandboxedHost, reasons: Sequence[Sequence[str | None]]) -> None:
        """Draw matches, replay them, and compare the records."""
        candidates: list[str] = []
        counts = Counter[str]()
        with Store.open(self._store) as store:
            question = (
                "SELECT p.board, p.seats, r.termination, lower(hex(r.id)) FROM place p JOIN record r ON r.number = p.record "
                "GROUP BY r.number ORDER BY min(p.number)"
            )
            for board, seats, ending, key in store.query(question):
                why = next((why for seat in seats.split(",") if (why := reasons[board][int(seat)]) is not None), None)
                why = why or (f"ended by {ending}" if ending in UNREPEATABLE_ENDINGS else None)
                if why is None:
                    candidates.append(key)
                else:
                    counts[why] += 1
            self._verdict.not_replayable = dict(sorted(counts.items()))
            if counts:
                named = ", ".join([f"{why} ({count:,})" for why, count in sorted(counts.items())])
                self._verdict.not_shown.append(f"{figures.amount(counts.total(), 'match')} cannot be replayed: {named}")
            self._lot = lot = draw_lot(candidates, self._size, self._seed)
            for number, key in enumerate(lot, 1):
                self._line.show(f"replaying match {number:,} of {len(lot):,}")
                record, place = store.record(key)
                assert place is not None
                self._compare(host, record, [place.number, place.board, place.pairing.round, list(place.pairing.seats)])
        for module, count in sorted(self._unplayed.items()):
            text = f"{figures.amount(count, 'drawn match')} cannot be replayed: {module} is not installed"
            self._verdict.not_shown.append(text)
            self._verdict.not_replayable[f"{module} is not installed"] = count
        if self._verdict.contradictions:
            return
        unplayed = self._unplayed.total()
        drawn, known = len(lot) - unplayed, len(candidates) - unplayed
        if not drawn:
            self._verdict.not_shown.append("no match was replayed")
            return
        self._verdict.most_differing = most_differing(drawn, known)
        self._verdict.shown.append(describe_bound(drawn, known, counts.total() + unplayed))

    def _compare(self, host: SandboxedHost, record: Record, place: Sequence[Any]) -> None:
        spent = sum([one.seconds for one in record.decisions])
        seconds = min(MATCH_SECONDS + SECONDS_PER_RECORDED * spent, MAX_MATCH_SECONDS)
        answer = host.ask(Replayed, "play", seconds, match=place)
        played, before = answer.record, json.loads(json.dumps(list_repeated(record)))
        if not self._files.one_version and lacks_only(before["decisions"], played.get("decisions")):
            self._note(OLD_DECISIONS)
            before["decisions"] = played["decisions"]
        found = [
            f"{key} was recorded as {abbreviate(before[key])}, but is {abbreviate(played.get(key))} in the replay"
            for key in before
            if key not in UNCOMPARED and before[key] != played.get(key)
        ]
        if found and (module := self._find_missing("\n".join(filter(None, [answer.message, answer.traceback])))):
            self._unplayed[module] += 1
            return
        self._verdict.replayed += 1
        if found:
            self._verdict.contradictions.append(f"match {record.id} differs: {found[0]}")
        else:
            self._verdict.equal += 1

    def _follow_rules(self, host: SandboxedHost, luck: str | None) -> None:
        """Compare all records with the rules. `ReplayHost.do_follow` describes `luck`."""
        unsure = 0
        end = perf_counter() + ANSWER_SECONDS + SECONDS_PER_MATCH * self._verdict.matches
        with Store.open(self._store) as store:
            [(places,)] = store.query("SELECT count(*) FROM place")
        for done in range(0, places + RECORDS_PER_ANSWER, RECORDS_PER_ANSWER):
            answer = host.ask(Followed, "follow", store=str(self._store), luck=luck)
            unsure += answer.unsure
            for text in answer.differences:
                failed = FAILED_RULES.match(text)
                if failed is not None and (module := self._find_missing(text[failed.end() :])):
                    raise HostFailed(f"{module} is not installed")
                self._verdict.contradictions.append(text)
            if answer.over or perf_counter() > end:
                break
            self._line.show(f"{done:,} of {places:,} records compared with the rules")
        if not answer.over:
            raise HostFailed("the comparison with the rules did not finish")
        if unsure:
            text = f"the adjusted returns of {figures.amount(unsure, 'match')}, which the default heuristic does not give"
            self._note(f"{text}: {AUTHORS_WORD}")
        if not self._verdict.contradictions and RULES not in self._verdict.shown:
            self._verdict.shown.append(RULES)

    def _check_columns(self, host: SandboxedHost) -> None:
        """Compare the columns, remarks and rankings that plugins add to the boards."""
        sheets = self._file.boards
        for number, (given, declared) in enumerate(zip(sheets, self._declared, strict=True), 1):
            both: tuple[Mapping[str, Any], ...] = (given, declared)
            columns = [
                ([one["column"] for one in sheet["plugin_columns"]], (sheet["ranking"] or {}).get("columns")) for sheet in both
            ]
            if columns[0] != columns[1]:
                text = f"the plugin columns of board {number} differ from those that arena computes here"
                # without other plugins, on both sides, they follow from the spec and its code
                if not self._foreign and not self._file.code.installed:
                    self._differ(text)
                self._note(text)
                return
        if not any(sheet["plugin_columns"] or sheet["ranking"] for sheet in sheets):
            self._computed = True
            return
        if self._last.ended is None:
            self._verdict.not_shown.append("the columns and remarks of plugins, because the run has not ended")
            return
        try:
            computed = host.ask(Computed, "boards", store=str(self._store))
        except HostFailed as error:
            self._verdict.not_shown.append(f"the columns and remarks of plugins: {self._explain(error)}")
            return
        boards = read_json(self._archive.read(BOARDS), BOARDS)["boards"]
        subset = not self._files.same_version
        differences = [f"{BOARDS}: {one}" for one in find_differences(boards, computed.boards, "boards", subset=subset)]
        for number, (sheet, filled) in enumerate(zip(sheets, computed.columns, strict=True), 1):
            by_key = {one["column"]["key"]: one for one in filled}
            for one in sheet["plugin_columns"]:
                key = one["column"]["key"]
                found = find_differences(one, by_key.get(key), f"column {key}", subset=subset)
                differences += [f"{RUN}: board {number}: {text}" for text in found]
        if differences:
            raise Contradiction("; ".join(differences[:3]))
        self._computed = True


def lacks_only(before: Any, played: Any) -> bool:
    """Return whether the recorded decisions differ from those of a replay only because they lack expanded states, or marks of
    fallbacks, which earlier versions did not write.
    """
    if before == played or not isinstance(played, list) or len(before) != len(played):
        return False
    for key in (EXPANDED, "fallback"):
        if not any(key in one or key in one.get("spent", ()) for one in before):
            played = [leave_out(one, key) for one in played]
    return bool(before == played)


def leave_out(decision: Any, key: str) -> Any:
    """Return a decision of a replay without one amount or mark. It comes from the sandbox, so it may have any type."""
    if not isinstance(decision, dict):
        return decision
    spent = decision.get("spent")
    left = {name: amount for name, amount in spent.items() if name != key} if isinstance(spent, dict) else spent
    plain = {name: value for name, value in decision.items() if name not in (key, "spent")}
    return {**plain, "spent": left} if left else plain


def list_computed(sheets: Sequence[Mapping[str, Any]]) -> str:
    """Return the names of the ranks and columns on boards that only code of a format or plugin can compute; empty if none."""
    columns = [one for sheet in sheets for one in sheet.get("plugin_columns", ())]
    keys = {str(one["column"]["key"]) for one in columns if one.get("cells") or one.get("remarks")}
    ranked = any((sheet.get("ranking") or {}).get("placings") for sheet in sheets)
    named = [f"the column{'s' if len(keys) > 1 else ''} {', '.join(sorted(keys))}"] if keys else []
    return " and ".join([*(["the ranks"] if ranked else []), *named])
