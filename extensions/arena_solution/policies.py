"""Tells which agents can give their policies, without importing the modules that use these."""

from arena import Spec
from arena.api.games import gives
from arena.api.match import Seat


def may_tell(spec: Spec, seat: Seat) -> bool:
    """Return False for a seat whose agent certainly gives no policy. This does not create the agent."""
    kind = spec.registry.agents.get(seat.agent)
    return seat.in_process and not seat.solver and (kind is None or gives(kind, "policy"))
