"""One match: its players, its referee and its record."""

from arena.identity import Stream, canonical
from arena.match.adjudication import Adjudication
from arena.match.decider import AgentRaised, Decider, EngineUse
from arena.match.match import Match, Position, Positions, Program, Seat
from arena.match.player import (
    Forfeit,
    Player,
    Unreadable,
    check_action,
    find_legal,
    local_player,
)
from arena.match.record import (
    FAULTS,
    UNREPEATABLE_ENDINGS,
    Reason,
    find_loser,
    is_timing,
)
from arena.match.referee import play_match
from arena.match.replay import Differs, Step, legal_action
from arena.match.stepper import Stepper
from arena.spec.isolation import Isolation

__all__ = [
    "FAULTS",
    "UNREPEATABLE_ENDINGS",
    "Adjudication",
    "AgentRaised",
    "Decider",
    "Differs",
    "EngineUse",
    "Forfeit",
    "Isolation",
    "Match",
    "Player",
    "Position",
    "Positions",
    "Program",
    "Reason",
    "Seat",
    "Step",
    "Stepper",
    "Stream",
    "Unreadable",
    "canonical",
    "check_action",
    "find_legal",
    "find_loser",
    "is_timing",
    "legal_action",
    "local_player",
    "play_match",
]
