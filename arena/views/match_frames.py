"""A match as plain values, position by position, for whatever shows it."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from arena.configured import name_of, settings
from arena.errors import Interrupted, describe
from arena.game import Game, Puzzle, State
from arena.members import GRID, gives_grid, grid_fault, member
from arena.record import Decision, Record
from arena.replay import Differs, Step, against_rules, steps
from arena.spec.parameters import plain

MOST = 5000
"""Frames of one match; of a longer one the first ones and the last."""
LONGEST = 4_000_000
"""Characters of all texts of a match; beyond them, as above."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One position of a match and what led to it. All values are plain, ready for JSON."""

    number: int
    """Actions played so far; -1 for an answer."""
    state: str
    """The position in the notation of the game."""
    rendered: str | None
    """As the game shows it to people; None where it is drawn."""
    grid: list[list[str]] | None
    """Its cells, where the game gives a grid and has no board."""
    action: str | None
    seat: int | None
    """Who played the action, with the label of the entry."""
    label: str | None
    nodes: int | None
    """What the decision used, None where there was none for the action alone."""
    evaluations: int | None
    depth: int | None
    value: float | None
    """From the view of who played."""
    seconds: float | None


@dataclass(frozen=True, slots=True)
class MatchView:
    """A match with all its frames. All values are plain, ready for JSON by `as_dict`."""

    id: str
    game: dict[str, Any]
    """Its `name`, `parameters`, the `colors` of its grid, and a `note` where that cannot be drawn."""
    labels: tuple[str, ...]
    frames: tuple[Frame, ...]
    left_out: int
    """Positions before the last one that were left out, since the match is too long to show them all."""
    returns: tuple[float, ...]
    solved: bool | None
    termination: str
    seat: int | None
    message: str | None
    moves: int | None
    cost: float | None
    fallbacks: int
    totals: tuple[dict[str, Any], ...]
    """For each seat its label, decisions, nodes, evaluations and seconds."""
    differences: tuple[str, ...]
    """Where the record is not what the rules make of it."""

    def as_dict(self) -> dict[str, Any]:
        """The view as plain values."""
        return asdict(self)


class Depiction(NamedTuple):
    """One state as a page shows it: drawn on a board, as a grid, or as text."""

    rendered: str | None = None
    grid: list[list[str]] | None = None
    note: str | None = None
    """The fault of the game's grid, None where there is none."""


def depicted(game: Game, state: State, *, drawn: bool = False) -> Depiction:
    """Return a state as its game shows it; a grid that is none is shown as text, with a note.

    With `drawn` there is nothing to return, since a board draws states from their notation.
    """
    if drawn:
        return Depiction()
    note = None
    if gives_grid(type(game)):
        try:
            cells = game.grid(state)
            fault = grid_fault(cells)
        except Interrupted:
            raise
        except Exception as error:  # the author may mean something else by `grid`
            fault = describe(error)
        if fault is None:
            return Depiction(grid=[list(row) for row in cells])
        note = f"grid: expected {GRID}, got {fault}; such states are shown as text"
    return Depiction(rendered=game.render(state), note=note)


def described(game: Game) -> dict[str, Any]:
    """Return a game as the boards want it: its name, all its parameters, and the colours of its grid."""
    colors = dict(member(type(game), "grid_colors")) if gives_grid(type(game)) else {}
    return {"name": name_of(game), "parameters": plain(settings(game)), "colors": colors}


def frames(game: Game, record: Record, *, drawn: bool = False) -> list[Frame]:
    """Return every position of a record as a frame, the first one included; Differs where the rules do not allow it.

    With `drawn` the frames carry neither a rendering nor a grid, since a board draws them from the notation.
    """
    return [_frame(game, record, step, depicted(game, step.state, drawn=drawn)) for step in steps(game, record)]


def view(game: Game, record: Record, *, drawn: bool = False, most: int = MOST) -> MatchView:
    """Return a record as a view, as far as the rules follow the record; `differences` tells where they do not.

    Of a match of more than `most` positions, or of LONGEST characters, the first ones and the last are shown.
    """
    found: list[Frame] = []
    differences: list[str] = []
    notes: list[str] = []
    left_out, first, last, skipped = 0, None, None, None
    room = LONGEST

    def keep(step: Step) -> None:
        depiction = depicted(game, step.state, drawn=drawn)
        found.append(_frame(game, record, step, depiction))
        if depiction.note is not None:
            notes.append(depiction.note)

    try:
        for step in steps(game, record):
            first, last = first or step, step
            if len(found) < most and room > 0:
                keep(step)
                room -= _length(found[-1])
            else:
                left_out, skipped = left_out + 1, step
    except Differs as differs:
        differences.append(str(differs))
    if skipped is not None:
        keep(skipped)
        left_out -= 1
    if first is not None and last is not None and not differences:
        differences = against_rules(game, record, first, last)
    return MatchView(
        id=record.id,
        game={**described(game), "note": notes[0] if notes else None},
        labels=record.labels,
        frames=tuple(found),
        left_out=left_out,
        returns=record.returns,
        solved=record.solved if isinstance(game, Puzzle) else None,
        termination=record.termination,
        seat=record.seat,
        message=record.message,
        moves=record.moves,
        cost=record.cost,
        fallbacks=record.fallbacks,
        totals=tuple([_total(seat, label, record.decisions) for seat, label in enumerate(record.labels)]),
        differences=tuple(differences),
    )


def _length(frame: Frame) -> int:
    """How many characters a frame takes, about."""
    return len(frame.state) + len(frame.rendered or "") + sum([len(mark) + 3 for row in frame.grid or () for mark in row])


def _frame(game: Game, record: Record, step: Step, depiction: Depiction) -> Frame:
    used = step.decision
    return Frame(
        number=step.number,
        state=game.format_state(step.state),
        rendered=depiction.rendered,
        grid=depiction.grid,
        action=step.action,
        seat=step.seat,
        label=None if step.seat is None else record.labels[step.seat],
        nodes=None if used is None else used.nodes,
        evaluations=None if used is None else used.evaluations,
        depth=None if used is None else used.depth,
        value=None if used is None else used.value,
        seconds=None if used is None else used.seconds,
    )


def _total(seat: int, label: str, decisions: Iterable[Decision]) -> dict[str, Any]:
    own = [decision for decision in decisions if decision.seat == seat]
    return {
        "label": label,
        "decisions": len(own),
        "nodes": sum(decision.nodes for decision in own),
        "evaluations": sum(decision.evaluations for decision in own),
        "seconds": sum(decision.seconds for decision in own),
    }
