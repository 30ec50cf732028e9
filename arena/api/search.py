"""Search engines and metering: how states are counted, and how an engine replaces the loop of a search."""

from arena.counting import GoCompiled, GoPlain, Meter, counting_view
from arena.match.match import SeatUse
from arena.search import SharedStart
from arena.search_engines import COMPILE, SearchEngine, compiles_first, search_engines, wants_plain

__all__ = [
    "COMPILE",
    "GoCompiled",
    "GoPlain",
    "Meter",
    "SearchEngine",
    "SeatUse",
    "SharedStart",
    "compiles_first",
    "counting_view",
    "search_engines",
    "wants_plain",
]
