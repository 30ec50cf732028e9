"""Matches as plain values, position by position, for reports and pages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from arena import CHANCE, Action, Game, Record, State
from arena.api.errors import call_foreign, describe
from arena.api.games import gives_grid, name_of, settings
from arena.api.match import Differs, Step, steps
from arena.api.spec import make_plain, read_member
from arena_catalog.grids import GRID, find_cells, find_grid_fault
from arena_records.rules import compare_with_rules

MAX_FRAMES = 5000
"""Frames of a match; a longer match is cut to the first ones and the last."""
MAX_CHARACTERS = 4_000_000
"""Characters of all frames of a match; beyond them it is cut likewise."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One position of a match and the decision that led to it. All values are plain, ready for JSON."""

    number: int
    """Actions played so far; -1 for an answer."""
    state: str
    """The position in the notation of the game."""
    rendered: str | None
    """The rendering of the game for people; None where the position is drawn."""
    grid: list[list[str]] | None
    """The cells of the position, if the game gives a grid and has no board."""
    action: str | None
    seat: int | None
    """The seat that played the action; None for the first position, for an outcome of chance, and for an answer."""
    label: str | None
    """The label of the entry in that seat; `chance` for an outcome of chance."""
    nodes: int | None
    """The nodes of the decision, as all that follows; None if the action had no decision of its own."""
    evaluations: int | None
    depth: int | None
    value: float | None
    """The value to the seat that played, as its agent reported it."""
    seconds: float | None


@dataclass(frozen=True, slots=True)
class MatchView:
    """A match with all its frames. All values are plain, ready for JSON by `as_dict`."""

    id: str
    game: dict[str, Any]
    """The `name`, the `parameters`, the `colors` of the grid, whether it `aims` at actions, a `note` if it cannot be drawn."""
    labels: tuple[str, ...]
    frames: tuple[Frame, ...]
    left_out: int
    """Number of positions left out before the last one, since the match is too long."""
    returns: tuple[float, ...]
    solved: bool | None
    termination: str
    seat: int | None
    message: str | None
    moves: int | None
    cost: float | None
    fallbacks: int
    totals: tuple[dict[str, Any], ...]
    """A mapping for each seat: label, decisions, nodes, evaluations and seconds."""
    differences: tuple[str, ...]
    """Differences between the record and a replay by the rules, as sentences."""

    def as_dict(self) -> dict[str, Any]:
        """Return the view as plain values."""
        return asdict(self)


class Depiction(NamedTuple):
    """A state as a page shows it: nothing if a board draws it, else a grid, else text."""

    rendered: str | None = None
    grid: list[list[str]] | None = None
    note: str | None = None
    """The fault of the grid; None for a sound one, and for games without."""


def depict(game: Game, state: State, *, drawn: bool = False) -> Depiction:
    """Return the grid of a state, else its rendering; a grid of another shape gives the rendering and a note.

    With `drawn` all is None: a board draws states from their notation. Raises what `render` raises.
    """
    if drawn:
        return Depiction()
    note = None
    if gives_grid(type(game)):
        try:
            cells = game.grid(state)
            fault = find_grid_fault(cells)
        except Exception as error:  # the author may mean something else by `grid`
            fault = describe(error)
        if fault is None:
            return Depiction(grid=[list(row) for row in cells])
        note = f"grid: expected {GRID}, got {fault}; such states are shown as text"
    return Depiction(rendered=game.render(state), note=note)


def aim(game: Game, state: State, actions: Sequence[Action]) -> list[list[tuple[int, int]]]:
    """Return the cells of the grid that stand for each action, by `Game.cells`; nothing if that is not as it should be."""
    if not aims(type(game)):
        return []
    return call_foreign(lambda: find_cells(game, state, actions, game.grid(state)), lambda _: [])


def aims(kind: type[Game]) -> bool:
    """Return whether a game says which cells of its grid stand for an action."""
    return gives_grid(kind) and read_member(kind, "cells") is not None


def describe_game(game: Game) -> dict[str, Any]:
    """Return the name of a game, its parameters, the colours of its grid and whether a click on it plays, as boards take them."""
    colors = dict(read_member(type(game), "grid_colors")) if gives_grid(type(game)) else {}
    return {"name": name_of(game), "parameters": make_plain(settings(game)), "colors": colors, "aims": aims(type(game))}


def view(game: Game, record: Record, *, drawn: bool = False, most: int = MAX_FRAMES) -> MatchView:
    """Return a view of a record, up to the first action that the rules forbid; `differences` tells of that.

    A match of more than `most` positions, or of MAX_CHARACTERS characters, is cut to the first ones and the last. With `drawn`
    frames have neither a rendering nor a grid: a board draws them from the notation.
    """
    found: list[tuple[Frame, str | None]] = []
    differences: list[str] = []
    left_out, first, last, skipped = 0, None, None, None
    room = MAX_CHARACTERS
    try:
        for step in steps(game, record):
            first, last = first or step, step
            if len(found) < most and room > 0:
                frame, note = _frame(game, record, step, drawn)
                found.append((frame, note))
                room -= len(frame.state) + len(frame.rendered or "")  # about the characters of a frame in JSON
                room -= sum([len(mark) + 3 for row in frame.grid or () for mark in row])
            else:
                left_out, skipped = left_out + 1, step
    except Differs as differs:
        differences.append(str(differs))
    if skipped is not None:
        found.append(_frame(game, record, skipped, drawn))
        left_out -= 1
    if first is not None and last is not None and not differences:
        differences = compare_with_rules(game, record, first, last)
    shown = {**describe_game(game), "note": next((note for _, note in found if note is not None), None)}
    totals = []
    for seat, label in enumerate(record.labels):
        own = [decision for decision in record.decisions if decision.seat == seat]
        totals.append(
            {
                "label": label,
                "decisions": len(own),
                "nodes": sum(decision.nodes for decision in own),
                "evaluations": sum(decision.evaluations for decision in own),
                "seconds": sum(decision.seconds for decision in own),
            }
        )
    return _view(record, shown, [frame for frame, _ in found], differences, left_out=left_out, totals=totals)


def _view(
    record: Record,
    game: dict[str, Any],
    frames: Iterable[Frame],
    differences: Iterable[str],
    *,
    left_out: int = 0,
    totals: Iterable[dict[str, Any]] = (),
) -> MatchView:
    """Return the view of a record that is shown as these frames."""
    return MatchView(
        id=record.id,
        game=game,
        labels=record.labels,
        frames=tuple(frames),
        left_out=left_out,
        returns=record.returns,
        solved=record.solved,
        termination=record.termination,
        seat=record.seat,
        message=record.message,
        moves=record.moves,
        cost=record.cost,
        fallbacks=record.fallbacks,
        totals=tuple(totals),
        differences=tuple(differences),
    )


_USED = ("nodes", "evaluations", "depth", "value", "seconds")
"""Fields of a decision that its frame has, too."""


def text_view(record: Record, game: Mapping[str, Any], differences: Iterable[str] = ()) -> MatchView:
    """Return a view of a record whose game is not here: one frame, with its position and its actions as text.

    `game` has the game's name.
    """
    text = "\n\n".join([record.position, " ".join(record.actions), *([record.answer] if record.answer else [])])
    frame = Frame(0, record.position, text, None, None, None, None, None, None, None, None, None)
    return _view(record, {"name": game["name"], "parameters": {}, "colors": {}}, [frame], differences)


def _frame(game: Game, record: Record, step: Step, drawn: bool) -> tuple[Frame, str | None]:
    """The frame of a step, and the note on its grid."""
    used, depiction = step.decision, depict(game, step.state, drawn=drawn)
    frame = Frame(
        number=step.number,
        state=game.format_state(step.state),
        rendered=depiction.rendered,
        grid=depiction.grid,
        action=step.action,
        seat=None if step.seat == CHANCE else step.seat,
        label=None if step.seat is None else "chance" if step.seat == CHANCE else record.labels[step.seat],
        **{name: getattr(used, name, None) for name in _USED},
    )
    return frame, depiction.note
