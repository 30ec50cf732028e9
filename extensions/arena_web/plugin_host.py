"""A helper process that answers requests from pages if the code of games or agents is needed: `python -m arena_web.plugin_host
PLUGIN...`.

The server never runs the code of plugins itself. It ends this process when the process takes too long or too much memory, or when
the page that sent the request is gone.
"""

import json
import sys
from typing import Any

from arena import load_plugins
from arena.api.processes import PythonProcess
from arena_isolation.helper_process import serve
from arena_web.requests import Requests


def main() -> None:
    """Answer requests until the input ends."""
    pipes, plugins = PythonProcess.take_pipes(), tuple(sys.argv[1:])
    requests = Requests(load_plugins(plugins), plugins)

    def answer(asked: Any) -> bytes:
        reply = requests.answer(asked)  # the values of games may have any type
        return json.dumps(reply, allow_nan=False, default=str).encode() + b"\n"

    serve(answer, *pipes)


if __name__ == "__main__":
    main()
