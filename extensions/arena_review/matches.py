"""Extracts the decisions from the records of a store."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arena import CHANCE, Game, Record
from arena.api.errors import describe
from arena.api.match import Differs, Step, legal_action
from arena.api.results import BoardInfo
from arena.api.run import Scheduled
from arena_review.api import Decision

OPENING_ACTIONS = 2
"""The number of first actions that name an opening if all matches begin with the same position."""


class PlayedDecision(NamedTuple):
    """A decision between several legal actions in a match."""

    decision: Decision
    number: int
    ply: int
    choices: int


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A match of a board with its decisions."""

    record: Record
    board: int
    round: int
    entries: tuple[int, ...]
    opening: str
    decisions: tuple[PlayedDecision, ...]
    only: int | None
    """The entry whose decisions these are; None for the decisions of all entries."""

    @property
    def decided(self) -> bool:
        """Return True if a seat lost or a puzzle was not solved."""
        return not self.record.solved if self.record.solved is not None else len(set(self.record.results)) > 1


def read_match(game: Game, record: Record, place: Scheduled, *, shared_start: bool, entry: int | None = None) -> PlayedMatch:
    """Return a match with the decisions of all entries, or of one entry. Raises Differs if the rules do not allow the record.

    With `shared_start`, all matches begin with the same position, and their first actions name the opening.
    """
    seats = place.pairing.seats
    found: list[PlayedDecision] = []
    before = None
    for step in Step.follow(game, record):
        if step.number > 0 and step.seat != CHANCE and before is not None and step.action is not None:
            seat = step.seat or 0
            state = before.state
            if entry is None or seats[seat] == entry:
                legal = game.actions(state)
                if len(legal) > 1:
                    action = legal_action(game, state, step.action)
                    text, action_text = game.format_state(state), game.format_action(state, action)
                    decision = Decision(seat, state, action, step.state, text, action_text)
                    found.append(PlayedDecision(decision, step.number - 1, before.moves, len(legal)))
        before = step
    opening = " ".join(record.actions[:OPENING_ACTIONS]) if shared_start else record.position
    return PlayedMatch(record, place.board, place.pairing.round, tuple(seats), opening, tuple(found), entry)


def list_decisions(game: Game, position: str) -> list[Decision]:
    """Return a decision for each legal action in a position."""
    state = game.parse_state(position)
    seat = game.to_move(state)
    return [
        Decision(seat, state, action, game.result(state, action), position, game.format_action(state, action))
        for action in game.actions(state)
    ]


def read_matches(
    records: Sequence[tuple[Record, Scheduled]], boards: Sequence[BoardInfo], games: Mapping[int, Game], agent: str | None
) -> Iterator[PlayedMatch | str]:
    """Yield the matches of the boards for which the game is known. For a match that the rules do not allow, yield a line with the
    reason instead.
    """
    starts: dict[int, set[str]] = {}
    for record, place in records:
        starts.setdefault(place.board, set()).add(record.position)
    for record, place in records:
        game = games.get(place.board)
        if game is None:
            continue
        labels = boards[place.board].labels
        entry = labels.index(agent) if agent in labels else None
        try:
            yield read_match(game, record, place, shared_start=len(starts[place.board]) == 1, entry=entry)
        except Differs as differs:
            yield f"match {record.id[:10]} is left out, because its record contradicts the rules: {differs}"
        except Exception as error:  # the rules of a plugin may raise anything
            yield f"match {record.id[:10]} is left out: {describe(error)}"
