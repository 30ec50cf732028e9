"""Has the rules judge what nodes send: whether a match from its position, by its actions, comes to the end that is recorded.

An agent's moves are checked by the referee of its match; a node has that referee in its own hands. So records are played
through again here, without their agents. That takes as long as the rules take, and no more than a share of the coordinator's
time: in a quick tournament on a large cluster some records are judged, in most tournaments all of them.
"""

from collections.abc import Sequence
from time import perf_counter

from arena.errors import Interrupted, describe
from arena.match.chance_streams import Chance, has_chance
from arena.match.record import Record
from arena.match.replay import Differs, against_rules, steps
from arena.schedule.runner import positions_of
from arena.schedule.schedule import Scheduled
from arena.spec import Spec

SHARE = 0.2
"""Of the time since the start, how much may go into this."""


class Audit:
    """Plays records through by the rules of their games, as many as SHARE allows."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._position = positions_of(spec)
        self._began = perf_counter()
        self._spent = 0.0
        self.judged = 0
        """The number of records that were played through."""

    def fault(self, played: Sequence[Scheduled], records: Sequence[Record]) -> str | None:
        """The first breach of the rules in some records; None if there is none in those that were judged."""
        for scheduled, record in zip(played, records, strict=True):
            began = perf_counter()
            if self._spent > SHARE * (began - self._began):
                return None
            breaches = self._judge(scheduled, record)
            self.judged += 1
            self._spent += perf_counter() - began
            if breaches:
                return f"match {record.id}: {breaches[0]}"
        return None

    def _judge(self, scheduled: Scheduled, record: Record) -> list[str]:
        """The breaches of the rules in a record; none in a void one, which claims nothing."""
        if record.termination == "void":
            return []
        board = self._spec.boards[scheduled.board]
        try:
            position = self._position(scheduled)
            if record.position != position.text:
                return [f"position: recorded {record.position!r}, by the spec {position.text!r}"]
            repetition = board.positions.repetition(scheduled.pairing.round)
            chance = Chance.of(board.game, position.key, repetition) if has_chance(board.game) else None
            gone = list(steps(board.game, record, position.state, chance))
            moves = board.seats[scheduled.pairing.seats[0]].limits.moves
            return against_rules(board.game, record, gone[0], gone[-1], moves, board.adjudication)
        except Differs as differs:
            return [str(differs)]
        except Interrupted:
            raise
        except BaseException as error:
            return [f"the game has played it there, and fails here: {describe(error)}"]
