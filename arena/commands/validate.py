"""The commands validate and schema: every fault of a spec, and what a spec may hold."""

import json
from collections.abc import Iterable, Sequence

from arena.console.notices import say
from arena.console.output import results_alone
from arena.errors import SpecError
from arena.spec import json_schema, load_spec

Plugins = Sequence[str]


def validate(specs: Iterable[str], *, plugins: Plugins) -> int:
    """Print every fault of every spec on stderr; 2 where there is one."""
    code = 0
    with results_alone() as out:
        for spec in specs:
            try:
                ready = load_spec(spec, plugins=plugins)
            except SpecError as error:
                say(str(error))
                code = 2
            else:
                matches = sum(board.size for board in ready.boards)
                print(f"{spec}: no faults, {matches:,} matches", file=out)
    return code


def schema() -> int:
    """Print the JSON Schema of a spec."""
    with results_alone() as out:
        print(json.dumps(json_schema(), indent=2), file=out)
    return 0
