"""Combines games and entries into boards: decides which entries play on a board, and chooses their labels and the format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any
from unicodedata import normalize

from arena.agent import Hints
from arena.columns import COLUMNS, by_key, with_interval
from arena.configured import parameters_of
from arena.errors import ArenaError, cut, listing, suggest
from arena.format import Field, Format, own_columns
from arena.game import Puzzle, gives
from arena.identity import key
from arena.limits import describe_unlike_limits, list_limits
from arena.match.match import IN_PROCESS, Positions, Program, Seat, Settings, move_limit
from arena.secret import seed_of_round
from arena.spec.board import Board, TableOptions, make_seat
from arena.spec.document import Path
from arena.spec.entries import Entry, list_features
from arena.spec.games import Rules, make_titles, read_adjudication
from arena.spec.isolation import is_closed
from arena.spec.labels import MAX_LABEL_CHARACTERS, make_labels
from arena.spec.parameters import Parameters
from arena.spec.positions import check_positions, read_positions
from arena.spec.reader import SpecReader, drop_keys, format_path
from arena.spec.source import list_organisers
from arena.spec.unlimited import needs_limit, warn_unlimited
from arena.traits import Abilities

SHARED_DEALS = "matches of a round have the same deals"
"""A note that a run prints for boards with chance or hidden information."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """An entry with the label that tables show."""

    label: str
    entry: Entry


def read_boards(reading: SpecReader, rules: Sequence[Rules], entries: Sequence[Entry]) -> list[Board]:
    """Return the boards of a spec. Faults are noted; a board with a fault may be missing."""
    labelled = _label_entries(reading, rules, entries)
    counted = not any(fault.where.startswith("agents") for fault in reading.faults.found)
    named = list(zip(rules, make_titles(list(rules)), strict=True))
    for title in [title for _, title in named if len(title) > MAX_LABEL_CHARACTERS]:
        expected = f"expected games whose parameters differ in at most {MAX_LABEL_CHARACTERS} characters"
        reading.faults.add(("games",), f"{expected}, got {cut(title)!r}")
    boards = [board for rule, title in named if (board := _read_board(reading, rule, title, labelled, counted)) is not None]
    if not rules and reading.stand_ins:
        _read_format(reading, reading.stand_ins[0])
    check_positions(reading, rules, [title for _, title in named])
    check_view(reading, boards, labelled)
    _note_shared_deals(reading, boards)
    _note_unlike_limits(reading, boards)
    _check_used(reading, rules, boards)
    return boards


def _note_shared_deals(reading: SpecReader, boards: Sequence[Board]) -> None:
    """Add a note that all matches of a round have the same deals, if an agent could remember them from one match to the
    next.
    """
    shared = [board for board in boards if board.has_deals]
    near = {seat.isolation for board in shared for seat in board.seats}
    titles = ", ".join([board.title for board in shared])
    if IN_PROCESS in near:
        hint = "with `isolation: process`, each process sees a deal only once; `sandbox` also prevents files from being passed on"
        reading.note(f"{titles}: {SHARED_DEALS}; nothing prevents agents from remembering them; {hint}")
    elif not all(is_closed(reading.registry, isolation) for isolation in near):
        hint = "`isolation: sandbox` also prevents it from leaving files for the next process"
        reading.note(f"{titles}: {SHARED_DEALS}; a process sees each deal only once; {hint}")


def _note_unlike_limits(reading: SpecReader, boards: Sequence[Board]) -> None:
    """Add a note for each board that the limits of its entries differ, but only once if all boards have the same
    limits.
    """
    found = {
        board.title: describe_unlike_limits({seat.label: list_limits(seat.limits) for seat in board.seats}) for board in boards
    }
    for title, remark in found.items():
        if remark is not None:
            reading.note(remark if len(set(found.values())) == 1 else f"{title}: {remark}")


def _label_entries(reading: SpecReader, rules: Sequence[Rules], entries: Sequence[Entry]) -> list[Labelled]:
    games = {rule.name: rule.game.default_heuristic for rule in (*rules, *reading.stand_ins)}
    default = next(iter(games.values())) if len(games) == 1 else None
    labels = make_labels([list_features(reading, entry, default) for entry in entries])
    found = [Labelled(label, entry) for label, entry in zip(labels, entries, strict=True)]
    first: dict[str, Entry] = {}
    for one in found:
        if len(one.label) > MAX_LABEL_CHARACTERS:
            expected = f"expected a label of at most {MAX_LABEL_CHARACTERS} characters"
            reading.faults.add(one.entry.path, f"{expected}, got {cut(one.label)!r}; give the entry a short label")
        other = first.setdefault(one.label, one.entry)
        if other is not one.entry:
            path: Path = (*one.entry.path, "label") if one.entry.label is not None else one.entry.path
            swept = other.path == one.entry.path
            if swept and one.entry.label is None:
                reading.faults.add(path, f"two entries are called {one.label!r}, because a sweep has the same value twice")
                continue
            hint = (
                "leave out the label, because the sweep makes several entries" if swept else "give one of them a different label"
            )
            reading.faults.add(path, f"two entries are called {one.label!r}; the first is {format_path(other.path)}; {hint}")
    return found


def _read_board(reading: SpecReader, rules: Rules, title: str, labelled: Sequence[Labelled], counted: bool) -> Board | None:
    """Return one board. If `counted` is true, all its entries could be read, and too few entries are a fault."""
    playing = []
    for one in labelled:
        reason = one.entry.source.refusal(one.entry.agent, rules.game) or _find_refusal(reading, one, rules)
        if reason is None:
            playing.append(one)
        elif reading.several:
            reading.note(f"{one.label} is left out of {rules.name}: {reason}")
    seats = tuple([_make_seat(reading, one, rules) for one in playing])
    _check_twins(reading, rules, playing, seats)
    texts = read_positions(reading, rules, title)
    format_ = _read_format(reading, rules)
    if format_ is None:
        return None
    fewest = format_.fewest(rules.game.players)
    if counted and len(playing) < fewest and reading.values.get("agents"):
        number = "one agent" if len(playing) == 1 else f"{len(playing) or 'no'} agents"
        message = f"{number} for {rules.name}; {format_.name} needs at least {fewest} that can play it"
        reading.faults.add(("agents",), message)
    rounds = len(texts) if texts is not None else reading.values.get("rounds") or format_.default_rounds(len(playing))
    changed = Parameters(type(rules.game)).drop_defaults(rules.parameters)
    openings = reading.values.get("openings")
    if openings is not None and rules.puzzle and not reading.several:
        reading.faults.add(("openings",), f"{rules.name} is a puzzle; openings are for games", key=True)
    plies = 0 if openings is None or rules.puzzle else int(openings["plies"])
    positions = Positions(rules.game, rules.name, changed, reading.seed, texts, plies)
    if positions.plies and not _can_open(reading, rules, positions):
        return None
    keys = tuple([key(seat.identity) for seat in seats])
    field = Field(len(seats), rules.game.players, rounds, keys, seed_of_round(reading.seed, 0), texts is None)
    refused = format_.refusal(field) if counted and len(playing) >= fewest else None
    if refused is not None:
        usual = replace(field, rounds=format_.default_rounds(len(playing)))
        rounds_given = "rounds" if texts is None else "positions"
        misfit = reading.values.get(rounds_given) is not None and format_.refusal(usual) is None  # only the rounds are wrong
        reading.faults.add((rounds_given if misfit else "format",), f"{format_.name} on {rules.name}: {refused}")
        return None
    if (announcement := format_.announcement()) is not None:
        reading.note(announcement)
    values, columns = reading.values, reading.values.get("columns")
    anchor = values.get("anchor")
    anchor = normalize("NFC", anchor) if isinstance(anchor, str) else anchor
    view = TableOptions(anchor, columns and tuple(columns), values.get("sort"), values.get("rank"))
    adjudication = read_adjudication(reading, rules)
    endless = tuple(dict.fromkeys([found for one in playing if (found := warn_unlimited(reading, rules, one.entry)) is not None]))
    return Board(rules.name, rules.parameters, title, rules.game, format_, positions, field, seats, view, adjudication, endless)


def _find_refusal(reading: SpecReader, one: Labelled, rules: Rules) -> str | None:
    """Return why an agent is left out of a board; None if it plays. In a spec with a single game, note a fault instead."""
    if not one.entry.source.here or not gives(one.entry.agent, "refuses"):
        return None
    try:
        reason = one.entry.make().refuses(rules.game)
    except Exception:  # the fault is reported when the agent is made
        return None
    if reason is None or reading.several:
        return reason
    reading.faults.add(one.entry.path, reason)
    return None


def check_view(reading: SpecReader, boards: Sequence[Board], labelled: Sequence[Labelled] = ()) -> None:
    """Report a fault for a column that no board has, and for an anchor that is not an entry on any board. Without boards, the
    anchor must be one of the entries in `labelled`.
    """
    given: list[tuple[tuple[str | int, ...], str]] = [
        (("columns", number), column) for number, column in enumerate(reading.values.get("columns") or ())
    ]
    sort = reading.values.get("sort")
    given += [] if sort is None else [(("sort",), sort)]
    if given:
        _check_columns(reading, boards, given)
    anchor = reading.values.get("anchor")
    anchor = normalize("NFC", anchor) if isinstance(anchor, str) else anchor
    labels = [seat.label for board in boards for seat in board.seats] if boards else [one.label for one in labelled]
    read = {one.entry.path[1] for one in labelled}
    whole = bool(boards) or len(read) == len(reading.values.get("agents") or ())  # otherwise a faulty entry may have this label
    if anchor is not None and labels and whole and anchor not in labels:
        reading.faults.add(("anchor",), f"no entry is called {anchor!r}; {suggest(anchor, labels)}")


def _check_columns(reading: SpecReader, boards: Sequence[Board], given: Sequence[tuple[tuple[str | int, ...], str]]) -> None:
    kinds = {board.kind for board in boards} or {"versus", "puzzle"}
    played = {board.format.kind for board in boards} or kinds
    formats = [kind for kind in reading.registry.formats.values() if kind.kind in played]
    own = [column for kind in formats for column in own_columns(kind)]
    agents = {seat.agent for board in boards for seat in board.seats}
    absent: dict[str, str] = {}
    for part in reading.registry.parts["column"].values():
        found = with_interval(part.column) if part.amount is None else (part.column,)
        if boards and part.agents and not part.agents & agents:
            absent |= dict.fromkeys([column.key for column in found], ", ".join(sorted(part.agents)))
        else:
            own += found
    known = by_key([column for kind in sorted(kinds, reverse=True) for column in COLUMNS[kind]] + own)
    for path, text in given:
        name = text.removeprefix("-") if path == ("sort",) else text
        if name in absent and name not in known:
            reading.faults.add(path, f"the column {name!r} is only for {absent[name]}, which no entry plays")
        elif name not in known:
            reading.faults.add(path, f"unknown column {text!r}; {suggest(name, known)}")


def _can_open(reading: SpecReader, rules: Rules, positions: Positions) -> bool:
    """Return whether the game is still running after the random plies that open the first position. If not, a fault is noted."""
    try:
        positions[0]
    except ArenaError as error:
        reading.faults.add(("openings", "plies"), f"{rules.name}: {error}")
        return False
    except Exception:  # the referee reports the faults of a game
        return True
    return True


def _check_twins(reading: SpecReader, rules: Rules, playing: Sequence[Labelled], seats: Sequence[Seat]) -> None:
    """Report a fault if two entries on a board are the same, because then their matches would also be the same."""
    first: dict[str, Labelled] = {}
    for one, seat in zip(playing, seats, strict=True):
        other = first.setdefault(seat.identity, one)
        if other is not one and other.label != one.label and not reading.faults.found:
            message = f"{one.label} is the same as {other.label} on {rules.name}; leave one of them out or give it a label"
            reading.faults.add(one.entry.path, message)


def _make_seat(reading: SpecReader, one: Labelled, rules: Rules) -> Seat:
    entry = one.entry
    evaluation, chosen = entry.source.heuristic(entry.choices, rules)
    if chosen is None and (entry.agent.wants_heuristic or _is_cut_off(entry, rules)):
        reading.note(f"{one.label} has no heuristic on {rules.name}: it values all unfinished states equally")
    described = None if chosen is None else {"name": chosen.name, "parameters": chosen.parameters}
    own = None if chosen is None else {"name": chosen.name, "parameters": chosen.changed}
    more = entry.source.identity_options()
    code = None if entry.source.code is None else entry.source.code.code
    limits = entry.limits
    if "moves" not in (reading.values.get("limits") or {}):
        limits = replace(limits, moves=move_limit(rules.game))
    given = (entry.agent, {**entry.options, **more}, evaluation, described, limits, one.label, rules.puzzle, entry.label, code)
    taken = entry.located(FilePath.cwd()) if entry.files else None
    seat = make_seat(*given, changed=Settings({**entry.changed, **more}, own), pondering=_ponders(reading), located=taken)
    both = ((rules.parameters, rules.files), (entry.options, entry.files))
    files = tuple([(values[name], file) for values, found in both for name, file in found.items()])
    seat = replace(seat, optimal=_claims_optimal(one, rules, described), files=files, waits=entry.waits)
    if entry.isolation == IN_PROCESS:
        return seat
    plugins = list_organisers(reading.registry, (rules.name,), agent=seat.agent)
    folder, used = reading.document.folder, (*rules.files.values(), *entry.files.values())
    options = entry.located(folder)
    program = Program(entry.name, options, described, plugins, str(folder), pondering=_ponders(reading), files=used)
    return replace(seat, isolation=entry.isolation, program=entry.source.program(program, rules.name))


def _is_cut_off(entry: Entry, rules: Rules) -> bool:
    """Return whether the agent is a search of a game that stops at a depth, and evaluates unfinished states there."""
    if rules.alone or not gives(entry.agent, "needs_limit") or not Hints.of(entry.agent).uses_heuristic:
        return False
    try:
        agent = entry.make()
    except Exception:  # the fault is reported when the agent is made
        return False
    return not needs_limit(agent, replace(entry.limits, nodes=None, seconds=None, cpu_seconds=None))


def _claims_optimal(one: Labelled, rules: Rules, heuristic: Mapping[str, Any] | None) -> bool:
    """Return whether every solution of an entry is a cheapest one. If it has no heuristic, the estimate counts as 0."""
    if not isinstance(rules.game, Puzzle):
        return False
    try:
        agent = one.entry.make()
    except Exception:  # the fault is reported when the agent is made
        return False
    admissible = heuristic is None or one.entry.source.knows_admissible(rules.name, heuristic["name"])
    return Abilities(agent).find_claim(rules.game, admissible=admissible) == "cost"


def _ponders(reading: SpecReader) -> bool:
    return bool(reading.values.get("pondering"))


DEFAULT_FORMATS = ("round-robin", "benchmark")
"""The formats of boards for several seats, and for one."""
FORMAT_OPTIONS = ("orders", "challengers", "test", "replays")
"""Options of formats that a spec may also have at its top level."""


def _read_options(reading: SpecReader, kind: type[Format], values: Mapping[str, Any]) -> dict[str, Any]:
    options = drop_keys(values, "name")
    known = parameters_of(kind)
    for name in FORMAT_OPTIONS:
        if reading.values.get(name) is None:
            continue
        if name in options:
            reading.faults.add((name,), "given twice, here and in format; leave one of them out", key=True)
        elif name in known:
            options[name] = reading.values[name]
        elif not reading.several:
            reading.faults.add((name,), f"the format {kind.name} has no {name}", key=True)
    return options


def _find_format(reading: SpecReader, rules: Rules) -> tuple[type[Format] | None, Mapping[str, Any]]:
    """Return the class of the format of a board, and the values of `format`. The class is None if the format is unknown.

    If the spec lists several games, boards that `format` does not fit have the default format.
    """
    default = DEFAULT_FORMATS[rules.alone]
    given = reading.values.get("format") or default
    values: Mapping[str, Any] = {"name": given} if isinstance(given, str) else given
    if not isinstance(values.get("name"), str):
        reading.faults.add(("format",), "expected a name, as in {name: round-robin}")
        return None, values
    path: Path = ("format",) if isinstance(given, str) else ("format", "name")
    kind = reading.known(reading.registry.format, values["name"], path)
    if kind is None or (kind.kind == "puzzle") == rules.alone:
        return kind, values
    if reading.several:
        if kind.name not in DEFAULT_FORMATS:
            reading.note(f"{rules.name} is played in the format {default}, because {kind.name} is not for it")
        return reading.registry.format(default), {"name": default}
    kin = "puzzle" if rules.puzzle else "game of one seat" if rules.alone else "game"
    fitting = [name for name, other in reading.registry.formats.items() if (other.kind == "puzzle") == rules.alone]
    message = f"{kind.name} is not for a {kin} such as {rules.name}; expected {listing(sorted(fitting), 'or')}"
    reading.faults.add(path, message)
    return None, values


def _read_format(reading: SpecReader, rules: Rules) -> Format | None:
    kind, values = _find_format(reading, rules)
    if kind is None:
        return None

    def report(where: Path, message: str) -> None:
        elsewhere = len(where) > 1 and where[1] in FORMAT_OPTIONS and where[1] not in values
        reading.report(where[1:] if elsewhere else where, message)

    options = Parameters(kind).validate(_read_options(reading, kind, values), ("format",), report)
    made: Format | None = None if options is None else reading.made(kind, options, ("format",))
    return made


def _check_used(reading: SpecReader, rules: Sequence[Rules], boards: Sequence[Board]) -> None:
    """In a spec with several games, note a fault for each key that no board uses. With one game, its board has noted it."""
    if not reading.several or not boards:
        return
    if reading.values.get("adjudicate") and not any(board.adjudication for board in boards):
        reading.faults.add(("adjudicate",), "none of the games can be adjudicated; leave adjudicate out", key=True)
    if reading.values.get("openings") is not None and all(rule.puzzle for rule in rules):
        reading.faults.add(("openings",), "all games of the spec are puzzles; openings are for games", key=True)
    if len(boards) < len(rules):
        return
    kinds = {board.format.name: type(board.format) for board in boards}
    given = reading.values.get("format")
    name = given if isinstance(given, str) else (given or {}).get("name")
    if name is not None and name not in kinds:
        path: Path = ("format",) if isinstance(given, str) else ("format", "name")
        reading.faults.add(path, f"{name} fits none of the games of the spec; expected {listing(sorted(kinds), 'or')}")
    for option in FORMAT_OPTIONS:
        if reading.values.get(option) is not None and not any(option in parameters_of(kind) for kind in kinds.values()):
            formats = f"format {next(iter(kinds))} has" if len(kinds) == 1 else f"formats {listing(sorted(kinds), 'and')} have"
            reading.faults.add((option,), f"the {formats} no {option}", key=True)
