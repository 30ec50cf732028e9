"""A process that simplifies the code of submissions for a comparison: `python -m arena_ladder.similarity_process SECONDS`.

The lexer uses regular expressions. Authors choose the code, and some texts take such an expression minutes, in which Python runs
nothing else. So the lexer runs here, with at most SECONDS of processor time for a text, and is ended if it needs more.
"""

import os
import resource
import sys
from math import ceil

from arena.api.processes import PythonProcess
from arena.clock import process_time
from arena_isolation.helper_process import serve

LOWEST_PRIORITY = 19


def simplify(text: str) -> str:
    """Return Python code with letters in place of names and texts, and without comments and spaces."""
    from copydetect.utils import filter_code

    return str(filter_code(text, "agent.py")[0])


def main() -> None:
    """Answer requests until the input ends. A request is a text, and the answer is the simplified text."""
    os.nice(LOWEST_PRIORITY)
    (requests, replies), seconds = PythonProcess.take_pipes(), float(sys.argv[1])
    simplify("")  # imports the lexer, which does not count towards the first text

    def answer(text: str) -> str:
        limit = ceil(process_time() + seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        return simplify(text)

    serve(answer, requests, replies)


if __name__ == "__main__":
    main()
