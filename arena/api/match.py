"""One match: its players, its referee and its record."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.identity import (
        Stream as Stream,
        canonical as canonical,
        position_stream as position_stream,
        seat_seed as seat_seed,
    )
    from arena.limits import clip_text as clip_text, is_count as is_count, limits_of as limits_of
    from arena.match.adjudication import Adjudication as Adjudication
    from arena.match.decider import AgentRaised as AgentRaised, Decider as Decider, EngineUse as EngineUse
    from arena.match.match import (
        Match as Match,
        Position as Position,
        Positions as Positions,
        Program as Program,
        Seat as Seat,
        match_id as match_id,
        seat_identity as seat_identity,
    )
    from arena.match.openings import play_opening as play_opening
    from arena.match.player import (
        Ending as Ending,
        Forfeit as Forfeit,
        Player as Player,
        Unreadable as Unreadable,
        Used as Used,
        check_action as check_action,
        fault_of as fault_of,
        find_legal as find_legal,
        local_player as local_player,
    )
    from arena.match.record import FAULTS as FAULTS, Reason as Reason
    from arena.match.referee import play_match as play_match
    from arena.match.replay import (
        Differs as Differs,
        IllegalAction as IllegalAction,
        Step as Step,
        legal_action as legal_action,
        steps as steps,
    )
    from arena.match.stepper import Stepper as Stepper, stepper_of as stepper_of
    from arena.parts import Isolation as Isolation, PlayerPool as PlayerPool
    from arena.returns import ZERO_SUM_TOLERANCE as ZERO_SUM_TOLERANCE
else:
    __getattr__, __dir__ = pass_on(__name__)
