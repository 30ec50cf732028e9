"""The command `arena`, which is also `python -m arena`.

Ctrl-C and SIGTERM must also work while the command line is imported, which takes some tenths of a second. So this module handles
both signals before it imports anything slow. For the same reason, `arena/__init__.py` imports nothing.
"""

import _signal  # type: ignore[import-not-found]  # part of Python; `signal` would first import other modules
import os


def end_at_once(_signum: int, _frame: object) -> None:
    """End the process. It has not begun to work, or its work is done."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(130)


def main() -> None:
    """Run the command line and end the process with its exit code."""
    for number in (_signal.SIGINT, _signal.SIGTERM):
        if _signal.getsignal(number) != _signal.SIG_IGN:  # `nohup` and shells ignore a signal for a process in the background
            _signal.signal(number, end_at_once)
    from arena.cli import run_process

    run_process()


if __name__ == "__main__":
    main()
