"""Reads the positions that a spec gives, in it or in a file beside it, and warns of repeated openings."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path as FilePath

from arena.errors import Interrupted, SpecError, describe
from arena.match.openings import MAX_REDRAWS
from arena.spec.board import Board
from arena.spec.document import Path, decode_text
from arena.spec.games import Rules
from arena.spec.reader import SpecReader

MAX_FILE_BYTES = 64 << 20
"""The largest file with positions, in bytes."""
MAX_ROUNDS_CHECKED = 1000
"""The number of rounds of a board with openings that are checked before play."""


def repeat_notes(boards: Iterable[Board]) -> Iterator[str]:
    """Yield a sentence for each board on which rounds repeat an earlier opening, because too few different ones were found."""
    for board in boards:
        rounds = min(board.field.rounds, MAX_ROUNDS_CHECKED)
        positions = board.positions
        if positions.plies and (repeats := positions.redraws.repeats(rounds)):
            of = f"the first {rounds:,}" if rounds < board.field.rounds else f"{rounds:,}"
            plies = f"{positions.plies} {'ply' if positions.plies == 1 else 'plies'}"
            reason = f"; {MAX_REDRAWS:,} draws found no other of {plies}" if positions.redraws.exhausted else ""
            yield f"{board.title}: {repeats:,} of {of} rounds repeat the opening of an earlier one{reason}"


def read_positions(reading: SpecReader, rules: Rules) -> tuple[str, ...] | None:
    """Return the texts of the positions of one board; None if they are drawn. Faults are noted."""
    given = reading.values.get("positions")
    if isinstance(given, list):
        if not given:
            reading.faults.add(("positions",), "expected at least one position")
        texts = {number: text for number, text in enumerate(given) if isinstance(text, str)}  # the fault of the others is noted
        return tuple([_read(rules, text, partial(reading.faults.add, ("positions", number))) for number, text in texts.items()])
    return None if given is None else _read_file(reading, rules, given)


def _read_file(reading: SpecReader, rules: Rules, name: str) -> tuple[str, ...]:
    called, place = str(FilePath(reading.document.name).parent / name), reading.document.folder / name
    try:
        if place.exists() and not place.is_file():  # a pipe or a device may never end
            raise ValueError("expected a file with one position a line")
        if place.stat().st_size > MAX_FILE_BYTES:
            raise ValueError(f"expected at most {MAX_FILE_BYTES:,} bytes, got {place.stat().st_size:,}")
        lines = decode_text(called, place.read_bytes()).splitlines()
    except SpecError as error:
        for fault in error.faults:
            reading.faults.add_at(called, fault.line, ("positions",), fault.message)
        return ()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        reading.faults.add(("positions",), f"{called} cannot be read: {reason}")
        return ()
    texts = {number: line.strip() for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")}
    reading.lines = list(texts.values())
    if not texts:
        reading.faults.add(("positions",), f"{called} holds no position; expected one a line")
    where: Path = ("positions",)
    return tuple([_read(rules, text, partial(reading.faults.add_at, called, number, where)) for number, text in texts.items()])


def _read(rules: Rules, text: str, report: Callable[[str], None]) -> str:
    """Return the text as the game itself writes it, so that one position has one key in every notation."""
    try:
        state = rules.game.parse_state(text)
        written = rules.game.format_state(state)
        over = not rules.puzzle and rules.game.is_terminal(state)
    except Interrupted:
        raise
    except ValueError as error:
        report(f"not a position of {rules.name}: {error}")
    except BaseException as error:  # a plugin's own parser may raise anything
        report(f"not a position of {rules.name}: {describe(error)}")
    else:
        if over:
            report(f"the game is over in this position of {rules.name}: {text!r}")
        return written
    return text
