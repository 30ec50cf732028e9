"""A process that does for pages whatever needs games and agents: `python -m arena.web.plugin_host PLUGIN...`.

One request a line on stdin, one answer a line on stdout, as JSON. The server never runs a plugin's code itself: it ends this
process where it takes too long or too much memory, or where the page that asked is gone.
"""

import json
import sys
from typing import IO

from arena.console.output import results_alone
from arena.plugins.sources import load_plugins
from arena.web.requests import Requests


def main() -> None:
    """Answer requests until there are no more."""
    plugins = tuple(sys.argv[1:])
    with results_alone() as out:
        requests = Requests(load_plugins(plugins), plugins)
        _write(out, {"ready": True})
        for line in sys.stdin:
            _write(out, requests.answer(json.loads(line)))


def _write(out: IO[str], answer: object) -> None:
    out.write(json.dumps(answer, allow_nan=False, default=str) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
