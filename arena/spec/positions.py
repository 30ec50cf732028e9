"""Reads the positions that a spec or a separate file lists, and warns if openings repeat."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from io import StringIO
from itertools import islice
from pathlib import Path as FilePath
from typing import Any

from arena.errors import GameError, Interrupted, SpecError, abbreviate, call_foreign, cut, describe, listing
from arena.match.match import USABLE_STATES, Positions, describe_type, find_state_fault
from arena.match.openings import MAX_REDRAWS
from arena.spec.board import Board
from arena.spec.document import Path, decode_text
from arena.spec.games import Rules
from arena.spec.reader import SpecReader
from arena.whole_files import read_whole

KEY: Path = ("positions",)
MAX_FILE_BYTES = 64 << 20
"""The largest file with positions, in bytes."""
MAX_LINES = 1_000_000
"""The largest number of lines in a file with positions, without empty lines and comments."""
MAX_POSITION_LINES = 30
"""The most lines of a file that make one position."""
DELIMITERS = ",;\t"
"""The characters that may separate the cells of a CSV file."""
MAX_REASON_CHARACTERS = 400
"""The most characters of a parser's reason to refuse a position. The reason usually quotes the text."""
MAX_ROUNDS_CHECKED = 1000
"""The number of rounds of a board that are checked for repeated openings before the run."""


def check_states(boards: Iterable[Board]) -> None:
    """Raise GameError if the states of a game cannot be hashed or compared. Only the first position of each board is tried. Other
    exceptions of a game are faults of the matches in which they occur.
    """
    for board in boards:
        fault = None if board.native else call_foreign(partial(_find_fault, board.positions), lambda _: None)
        if fault is not None:
            raise GameError(f"{board.title}: {USABLE_STATES}; got {fault}; use a value such as a tuple")


def _find_fault(positions: Positions) -> str | None:
    state, method = positions[0].state, "initial" if positions.texts is None else "parse_state"
    fault = find_state_fault(state, state)
    return None if fault is None else f"{describe_type(state)} from {method} ({fault})"


def repeat_notes(boards: Iterable[Board]) -> Iterator[str]:
    """Yield a sentence for each board on which rounds repeat earlier openings because there are too few different ones."""
    for board in boards:
        rounds = min(board.field.rounds, MAX_ROUNDS_CHECKED)
        positions = board.positions
        if positions.plies and (repeats := positions.redraws.repeats(rounds)):
            of = f"the first {rounds:,}" if rounds < board.field.rounds else f"{rounds:,}"
            plies = f"{positions.plies} {'ply' if positions.plies == 1 else 'plies'}"
            reason = f"; {MAX_REDRAWS:,} more draws found no other opening of {plies}" if positions.redraws.exhausted else ""
            yield f"{board.title}: {repeats:,} of {of} rounds repeat the opening of an earlier round{reason}"


def read_positions(reading: SpecReader, rules: Rules, title: str) -> tuple[str, ...] | None:
    """Return the positions of the board with this title as texts; None if they are drawn at random. Faults are noted.

    In a spec with several games, `positions` may be a mapping. Its keys are titles of boards, or games for all their boards.
    """
    path, given = _find_positions(reading, rules, title)
    called = title if reading.several else rules.name
    rest = ""
    if reading.several and path == KEY and (len(reading.games) > 1 or title != rules.name):
        key = title if title == rules.name else repr(title)  # a title may contain a comma
        rest = f"; to give each board its own positions, write them below its name, as in `positions: {{{key}: [...]}}`"
    if isinstance(given, list):
        if not given:
            reading.faults.add(path, "expected at least one position")
        texts = {number: text for number, text in enumerate(given) if isinstance(text, str)}  # other items have a noted fault

        def report(number: int, message: str) -> None:
            reading.faults.add((*path, number), f"{message}{rest}")

        return tuple([_read(rules, text, partial(report, number), called) for number, text in texts.items()])
    return None if given is None else _read_file(reading, rules, given, path, called, rest)


def _find_positions(reading: SpecReader, rules: Rules, title: str) -> tuple[Path, Any]:
    """Return the value that lists or names the positions of a board, with its path. The value is None if there is none."""
    given = reading.values.get("positions")
    if not isinstance(given, dict):
        return KEY, given
    keys = {str(key): key for key in given}  # YAML reads a name such as 2048 as a number
    key = next((keys[name] for name in (title, rules.name) if name in keys), None)
    return (KEY, None) if key is None or not reading.several else ((*KEY, key), given[key])


def check_positions(reading: SpecReader, rules: Sequence[Rules], titles: Sequence[str]) -> None:
    """Report the faults of a mapping of `positions` that concern no single board."""
    given = reading.values.get("positions")
    if not isinstance(given, dict):
        return
    if not reading.several:
        reading.faults.add(KEY, "a mapping is for specs with `games`; expected a list of positions or a file")
        return
    known = list(dict.fromkeys([*reading.games, *titles]))
    if not reading.stand_ins:  # otherwise a key may be the title of a board that has a fault
        for key in given:
            if str(key) not in known:
                reading.faults.add((*KEY, key), f"no board of this spec plays {key}; expected {listing(known, 'or')}", key=True)
    drawn = [title for one, title in zip(rules, titles, strict=True) if _find_positions(reading, one, title)[1] is None]
    if reading.values.get("rounds") is not None and rules and not drawn and not reading.stand_ins:
        reading.faults.add(("rounds",), "every board has positions, and each position is played once; leave rounds out", key=True)


def _read_file(reading: SpecReader, rules: Rules, name: str, path: Path, title: str, rest: str) -> tuple[str, ...]:
    called, place = str(FilePath(reading.document.name).parent / name), reading.document.folder / name
    try:
        text = decode_text(called, read_whole(place, MAX_FILE_BYTES))
        if place.suffix in (".yaml", ".yml"):
            texts, taken = import_module("arena_check.positions").read_texts(called, text, place.parent), ""
        else:
            texts, taken = _split(rules, text, is_csv=place.suffix == ".csv")
    except SpecError as error:
        for fault in error.faults:
            reading.faults.add_at(called, fault.line, path, fault.message)
        return ()
    except (OSError, ValueError) as error:
        reason = str(error).removeprefix(f"{place} cannot be read: ")
        reading.faults.add(path, f"{called} cannot be read: {reason}")
        return ()
    reading.lines[path] = [text for _, text in texts]
    if not texts:
        reading.faults.add(path, f"{called} contains no positions; expected one per line")

    def report(line: int, message: str) -> None:
        reading.faults.add_at(called, line, path, f"{message}{taken}{rest}")

    return tuple([_read(rules, text, partial(report, line), title) for line, text in texts])


def _split(rules: Rules, text: str, *, is_csv: bool) -> tuple[list[tuple[int, str]], str]:
    """Return the positions in a file with their line numbers, and the words that name the format for which it was taken.

    The first position decides: it is a line, a cell of a CSV file with a header, or several lines.
    """
    stripped = ((number, line.strip()) for number, line in enumerate(StringIO(text), 1))
    lines = list(islice(((number, line) for number, line in stripped if line and line[0] != "#"), MAX_LINES + 1))
    if len(lines) > MAX_LINES:
        raise ValueError(f"expected at most {MAX_LINES:,} lines with positions")
    plain = lines, "; the file was read with one position per line"
    if len(lines) < 2 or _is_position(rules, lines[0][1]):
        return plain
    for delimiter in DELIMITERS:
        header, first, *_ = cells = list(csv.reader([line for _, line in lines], delimiter=delimiter))
        if len(header) != len(first) or (len(header) == 1 and not is_csv) or len(cells) != len(lines):
            continue
        other = 0 if is_csv and (len(header) > 1 or delimiter == DELIMITERS[-1]) else None
        column = next((number for number, cell in enumerate(first) if _is_position(rules, cell)), other)
        if column is not None:
            rest = [(number, "".join(row[column : column + 1])) for (number, _), row in zip(lines[1:], cells[1:], strict=True)]
            return rest, f"; the file was read as CSV with a header and the positions in the column {header[column]!r}"
    for size in range(2, min(len(lines), MAX_POSITION_LINES) + 1):
        if _is_position(rules, "\n".join([line for _, line in lines[:size]])):
            starts = range(0, len(lines), size)
            blocks = [(lines[at][0], "\n".join([line for _, line in lines[at : at + size]])) for at in starts]
            return blocks, f"; the file was read with one position per {size} lines"
    return plain


def _is_position(rules: Rules, text: str) -> bool:
    faults: list[str] = []
    _read(rules, text, faults.append, rules.name)
    return not faults


def _read(rules: Rules, text: str, report: Callable[[str], None], title: str) -> str:
    """Return the text in the notation that the game writes, so that one position has the same key in every notation."""
    try:
        state = rules.game.parse_state(text)
        written = rules.game.format_state(state)
        over = not rules.puzzle and rules.game.is_terminal(state)
    except Interrupted:
        raise
    except BaseException as error:  # the parser of a plugin may raise anything
        reason = str(error) if isinstance(error, ValueError) else describe(error)
        report(f"not a position of {title}: {cut(reason, MAX_REASON_CHARACTERS)}")
    else:
        if over:
            report(f"the game is over in this position of {title}: {abbreviate(text)}")
        return written
    return text
