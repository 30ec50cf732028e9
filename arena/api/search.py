"""Search engines and metering: how states are counted, and how the loop of an engine takes over a decision."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.counting import GoCompiled as GoCompiled
    from arena.counting import GoPlain as GoPlain
    from arena.counting import Meter as Meter
    from arena.counting import counting_view as counting_view
    from arena.parts import SearchEngine as SearchEngine
    from arena.parts import SeatUse as SeatUse
    from arena.search import SharedStart as SharedStart
    from arena.search_engines import PLAIN as PLAIN
    from arena.search_engines import search_engines as search_engines
    from arena.unmetered import WATCHED as WATCHED
    from arena.unmetered import seen as seen
    from arena.unmetered import unwatched_copy as unwatched_copy
    from arena.unmetered import watch as watch
else:
    __getattr__, __dir__ = pass_on(__name__)
