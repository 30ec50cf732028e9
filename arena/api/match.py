"""One match: its players, its referee and its record."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.identity import Stream as Stream
    from arena.identity import canonical as canonical
    from arena.identity import position_stream as position_stream
    from arena.identity import seat_seed as seat_seed
    from arena.limits import clip_text as clip_text
    from arena.limits import is_count as is_count
    from arena.limits import limits_of as limits_of
    from arena.match.adjudication import Adjudication as Adjudication
    from arena.match.decider import AgentRaised as AgentRaised
    from arena.match.decider import Decider as Decider
    from arena.match.decider import EngineUse as EngineUse
    from arena.match.match import Match as Match
    from arena.match.match import Position as Position
    from arena.match.match import Positions as Positions
    from arena.match.match import Program as Program
    from arena.match.match import Seat as Seat
    from arena.match.match import match_id as match_id
    from arena.match.match import seat_identity as seat_identity
    from arena.match.openings import play_opening as play_opening
    from arena.match.player import Ending as Ending
    from arena.match.player import Forfeit as Forfeit
    from arena.match.player import Player as Player
    from arena.match.player import Unreadable as Unreadable
    from arena.match.player import Used as Used
    from arena.match.player import check_action as check_action
    from arena.match.player import fault_of as fault_of
    from arena.match.player import find_legal as find_legal
    from arena.match.player import local_player as local_player
    from arena.match.record import FAULTS as FAULTS
    from arena.match.record import Reason as Reason
    from arena.match.referee import play_match as play_match
    from arena.match.replay import Differs as Differs
    from arena.match.replay import IllegalAction as IllegalAction
    from arena.match.replay import Step as Step
    from arena.match.replay import legal_action as legal_action
    from arena.match.replay import steps as steps
    from arena.match.stepper import Stepper as Stepper
    from arena.match.stepper import stepper_of as stepper_of
    from arena.parts import Isolation as Isolation
    from arena.parts import PlayerPool as PlayerPool
    from arena.returns import ZERO_SUM_TOLERANCE as ZERO_SUM_TOLERANCE
else:
    __getattr__, __dir__ = pass_on(__name__)
