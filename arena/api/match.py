"""One match: what a player is given, what a referee does, and what is kept of it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.identity import Stream, canonical, position_stream, seat_seed
    from arena.limits import Limits
    from arena.match.chance_streams import Chance, chance_outcomes, has_chance
    from arena.match.decider import AgentRaised, Decider
    from arena.match.match import Match, Position, Program, Seat, match_id
    from arena.match.player import Ending, Forfeit, Player, Used, check_action, fault_of, local_player
    from arena.match.record import FAULTS, Decision, Reason, Record
    from arena.match.referee import play_match
    from arena.match.replay import Differs, IllegalAction, legal_action, steps
    from arena.parts import Isolation, PlayerPool
    from arena.returns import returns_of_loss, standing
    from arena.search import Search, SharedStart

_HOMES = {
    "arena.identity": "Stream canonical position_stream seat_seed",
    "arena.limits": "Limits",
    "arena.match.chance_streams": "Chance chance_outcomes has_chance",
    "arena.match.decider": "AgentRaised Decider",
    "arena.match.match": "Match Position Program Seat match_id",
    "arena.returns": "returns_of_loss standing",
    "arena.match.player": "Ending Forfeit Player Used check_action fault_of local_player",
    "arena.match.record": "Decision FAULTS Reason Record",
    "arena.match.referee": "play_match",
    "arena.match.replay": "Differs IllegalAction legal_action steps",
    "arena.parts": "Isolation PlayerPool",
    "arena.search": "Search SharedStart",
}
_PLACES = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = [
    "FAULTS",
    "AgentRaised",
    "Chance",
    "Decider",
    "Decision",
    "Differs",
    "Ending",
    "Forfeit",
    "IllegalAction",
    "Isolation",
    "Limits",
    "Match",
    "Player",
    "PlayerPool",
    "Position",
    "Program",
    "Reason",
    "Record",
    "Search",
    "Seat",
    "SharedStart",
    "Stream",
    "Used",
    "canonical",
    "chance_outcomes",
    "check_action",
    "fault_of",
    "has_chance",
    "legal_action",
    "local_player",
    "match_id",
    "play_match",
    "position_stream",
    "returns_of_loss",
    "seat_seed",
    "standing",
    "steps",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: a plugin that only registers itself imports nothing heavy."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
