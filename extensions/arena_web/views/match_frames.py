"""Matches as plain values, position by position, for reports and pages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from arena import CHANCE, Action, Game, Record, State
from arena.api.errors import call_foreign, describe
from arena.api.games import gives, name_of, settings
from arena.api.match import Differs, Step
from arena.api.spec import Parameters
from arena_catalog.grids import GRID, find_cells, find_grid_fault, read_colors
from arena_records.rules import compare_with_rules

MAX_FRAMES = 5000
"""The maximum number of frames of a match. If a match is longer, its first frames and the last one are kept."""
MAX_CHARACTERS = 4_000_000
"""The maximum number of characters in all frames of a match. Longer matches are cut in the same way."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One position of a match and the decision that led to it. All values can be written as JSON."""

    number: int
    """The number of actions played so far; -1 for an answer."""
    state: str
    """The position in the notation of the game."""
    rendered: str | None
    """The text that the game renders for people; None if a board draws the position."""
    grid: list[list[str]] | None
    """The cells of the position, if the game gives a grid and has no board."""
    action: str | None
    seat: int | None
    """The seat that played the action; None for the first position, for an outcome of chance, and for an answer."""
    label: str | None
    """The label of the entry in that seat, or `chance` for an outcome of chance."""
    nodes: int | None
    """The number of nodes of the decision. This field and the following ones are None if the action had no decision
    of its own.
    """
    evaluations: int | None
    depth: int | None
    value: float | None
    """The value for the seat that played, as reported by its agent."""
    exact: bool | None
    """Whether the agent has proven this value."""
    seconds: float | None


@dataclass(frozen=True, slots=True)
class MatchView:
    """A match with all its frames. All values can be written as JSON, see `as_dict`."""

    id: str
    game: dict[str, Any]
    """A mapping with the `name`, the `parameters`, the `colors` of the grid, `aims` (whether squares stand for actions), and a
    `note` if the game cannot be drawn.
    """
    labels: tuple[str, ...]
    frames: tuple[Frame, ...]
    left_out: int
    """The number of positions that are left out before the last one, because the match is too long."""
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
    """The differences between the record and a replay by the rules, as sentences."""

    def as_dict(self) -> dict[str, Any]:
        """Return the view as plain values."""
        return asdict(self)


class Depiction(NamedTuple):
    """A state as a page shows it. If a board draws the state, all fields are None; otherwise there is a grid or a text."""

    rendered: str | None = None
    grid: list[list[str]] | None = None
    note: str | None = None
    """The fault in the grid; None if the grid is valid or the game has none."""


def depict(game: Game, state: State, *, drawn: bool = False) -> Depiction:
    """Return the grid of a state, or its rendering if there is no grid. If the grid has a wrong shape, return the rendering and a
    note.

    With `drawn`, all fields are None, because a board draws states from their notation. Exceptions of `render` are not caught.
    """
    if drawn:
        return Depiction()
    note = None
    if gives(game, "grid"):
        try:
            cells = game.grid(state)
            fault = find_grid_fault(cells)
        except Exception as error:  # the author may use the name `grid` for something else
            fault = describe(error)
        if fault is None:
            return Depiction(grid=[list(row) for row in cells])
        note = f"grid: expected {GRID}, got {fault}; such states are shown as text"
    return Depiction(rendered=game.render(state), note=note)


def aim(game: Game, state: State, actions: Sequence[Action]) -> list[list[tuple[int, int]]]:
    """Return the cells of the grid that stand for each action, as `Game.cells` gives them; empty if they are not valid."""
    if not aims(type(game)):
        return []
    return call_foreign(lambda: find_cells(game, state, actions, game.grid(state)), lambda _: [])


def aims(kind: type[Game]) -> bool:
    """Return True if a class of games defines which cells of its grid stand for an action."""
    return gives(kind, "grid") and gives(kind, "cells")


def describe_game(game: Game) -> dict[str, Any]:
    """Return the name of a game, its parameters, the colours of its grid and whether clicks on the grid play actions, in the form
    that boards take.
    """
    colors = read_colors(type(game)) if gives(game, "grid") else {}
    return {
        "name": name_of(game),
        "parameters": Parameters.make_plain(settings(game)),
        "colors": colors,
        "aims": aims(type(game)),
    }


def view(game: Game, record: Record, *, drawn: bool = False, most: int = MAX_FRAMES) -> MatchView:
    """Return a view of a record. It ends before the first action that the rules do not allow, and then `differences` says so.

    A match with more than `most` positions or MAX_CHARACTERS characters is cut: the first positions and the last one are kept.
    With `drawn`, frames have neither a rendering nor a grid, because a board draws them from the notation.
    """
    found: list[tuple[Frame, str | None]] = []
    differences: list[str] = []
    left_out, first, last, skipped = 0, None, None, None
    room = MAX_CHARACTERS
    try:
        for step in Step.follow(game, record):
            first, last = first or step, step
            if len(found) < most and room > 0:
                frame, note = _frame(game, record, step, drawn)
                found.append((frame, note))
                room -= len(frame.state) + len(frame.rendered or "")  # about the number of characters that the frame has in JSON
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


_USED = ("nodes", "evaluations", "depth", "value", "exact", "seconds")
"""The fields that a frame takes from a decision."""


def text_view(record: Record, game: Mapping[str, Any], differences: Iterable[str] = ()) -> MatchView:
    """Return a view of a record whose game is not installed here: one frame, with its position and its actions as text.

    `game` contains the name of the game.
    """
    text = "\n\n".join([record.position, " ".join(record.actions), *([record.answer] if record.answer else [])])
    frame = Frame(0, record.position, text, *[None] * 10)
    return _view(record, {"name": game["name"], "parameters": {}, "colors": {}}, [frame], differences)


def _frame(game: Game, record: Record, step: Step, drawn: bool) -> tuple[Frame, str | None]:
    """Return the frame of a step, and the note about its grid."""
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
