"""A process that reviews matches for the feedback to authors: `python -m arena_ladder.feedback_process STORE PLUGIN...`.

It has the lowest priority, and loads no code of submissions.
"""

import os
import sys
from pathlib import Path
from typing import Any

from arena import load_plugins
from arena.api.processes import PythonProcess
from arena_isolation.helper_process import serve
from arena_web.api import Feedback, Findings

LOWEST_PRIORITY = 19


def main() -> None:
    """Answer requests until the input ends."""
    os.nice(LOWEST_PRIORITY)
    (requests, replies), (store, *plugins) = PythonProcess.take_pipes(), sys.argv[1:]
    registry = load_plugins(plugins)
    parts: dict[str, Feedback] = registry.parts[Feedback.kind]
    reviewer = next(iter(parts.values())).open(Path(store), registry, plugins)

    def answer(asked: Any) -> Findings:
        return reviewer.find_costly(**asked)

    serve(answer, requests, replies)


if __name__ == "__main__":
    main()
