"""A helper process for all requests of pages that need games and agents: `python -m arena_web.plugin_host PLUGIN...`.

The server never runs a plugin's code itself: it ends this process if it takes too long or too much memory, or if the requesting
page is gone.
"""

import json
import sys
from typing import Any

from arena import load_plugins
from arena.api.processes import take_pipes
from arena_isolation.helper import serve
from arena_web.requests import Requests


def main() -> None:
    """Answer requests until the end of the input."""
    pipes, plugins = take_pipes(), tuple(sys.argv[1:])
    requests = Requests(load_plugins(plugins), plugins)

    def answer(asked: Any) -> bytes:
        reply = requests.answer(asked)  # the values of games may be of any type
        return json.dumps(reply, allow_nan=False, default=str).encode() + b"\n"

    serve(answer, *pipes)


if __name__ == "__main__":
    main()
