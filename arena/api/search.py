"""Search engines and metering: how states are counted, and how the loop of an engine takes over a decision."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.counting import GoCompiled as GoCompiled, GoPlain as GoPlain, Meter as Meter, counting_view as counting_view
    from arena.parts import SearchEngine as SearchEngine, SeatUse as SeatUse
    from arena.search import SharedStart as SharedStart
    from arena.search_engines import PLAIN as PLAIN, search_engines as search_engines
    from arena.unmetered import WATCHED as WATCHED, seen as seen, unwatched_copy as unwatched_copy, watch as watch
else:
    __getattr__, __dir__ = pass_on(__name__)
