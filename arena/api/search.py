"""Search engines and metering: how states are counted, and how an engine replaces the loop of a search."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.counting import GoCompiled as GoCompiled, GoPlain as GoPlain, Meter as Meter, counting_view as counting_view
    from arena.parts import SearchEngine as SearchEngine, SeatUse as SeatUse
    from arena.search import SharedStart as SharedStart
    from arena.search_engines import PLAIN as PLAIN, compiles_first as compiles_first, search_engines as search_engines
else:
    __getattr__, __dir__ = pass_on(__name__)
