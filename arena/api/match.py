"""One match: its players, its referee and its record."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

# looked up on first use, because a process that only plays matches or holds an agent needs few of these names
if TYPE_CHECKING:
    from arena.identity import Stream as Stream, canonical as canonical
    from arena.match.adjudication import Adjudication as Adjudication
    from arena.match.decider import AgentRaised as AgentRaised, Decider as Decider, EngineUse as EngineUse
    from arena.match.match import (
        USABLE_STATES as USABLE_STATES,
        Match as Match,
        Position as Position,
        Positions as Positions,
        Program as Program,
        Seat as Seat,
        describe_type as describe_type,
        find_state_fault as find_state_fault,
    )
    from arena.match.player import (
        Forfeit as Forfeit,
        Player as Player,
        Unreadable as Unreadable,
        check_action as check_action,
        find_legal as find_legal,
        local_player as local_player,
    )
    from arena.match.record import (
        EXPANDED as EXPANDED,
        FAULTS as FAULTS,
        UNREPEATABLE_ENDINGS as UNREPEATABLE_ENDINGS,
        Reason as Reason,
        find_loser as find_loser,
        is_timing as is_timing,
    )
    from arena.match.referee import play_match as play_match
    from arena.match.replay import Differs as Differs, Step as Step, legal_action as legal_action
    from arena.match.stepper import Stepper as Stepper
    from arena.spec.isolation import Isolation as Isolation
    from arena.tournament.single import seat_of as seat_of
else:
    __getattr__, __dir__ = pass_on(
        __name__,
        {
            "arena.identity": "Stream canonical",
            "arena.match.adjudication": "Adjudication",
            "arena.match.decider": "AgentRaised Decider EngineUse",
            "arena.match.match": "USABLE_STATES Match Position Positions Program Seat describe_type find_state_fault",
            "arena.match.player": "Forfeit Player Unreadable check_action find_legal local_player",
            "arena.match.record": "EXPANDED FAULTS UNREPEATABLE_ENDINGS Reason find_loser is_timing",
            "arena.match.referee": "play_match",
            "arena.match.replay": "Differs Step legal_action",
            "arena.match.stepper": "Stepper",
            "arena.spec.isolation": "Isolation",
            "arena.tournament.single": "seat_of",
        },
    )
