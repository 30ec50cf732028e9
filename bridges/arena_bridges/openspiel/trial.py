"""Tries an open_spiel game in a separate process, because wrong parameters can end the process or take hours.

The process runs this file alone: it imports only open_spiel, so that it starts quickly. The rest of arena calls `find_crash`.
"""

import json
import random
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

MAX_CPU_SECONDS = 10
"""The CPU time in which a game must be loaded and played at random once."""
MAX_SECONDS = 60.0
"""The time after which the process is ended, even if it has used less CPU time."""
MAX_MEMORY_BYTES = 2 << 30
MAX_PLIES = 300
"""The plies of a random walk."""
MORE_WALKS_SECONDS = 0.1
"""After the first walk, further walks begin for so long. They also write all texts of the states."""
NO_MEMORY = 3
"""The exit code if the memory is not sufficient."""


def find_crash(text: str, kind: str, environment: dict[str, str]) -> str | None:
    """Return how open_spiel fails if it loads a game, or None if it does not crash. An error that it raises is no crash.

    `text` is the name of the game with its parameters, or the content of a file if `kind` is `efg_game` or `nfg_game`.
    """
    order = json.dumps([text, kind, MAX_CPU_SECONDS, MAX_MEMORY_BYTES])
    command = [sys.executable, "-P", str(Path(__file__).absolute())]
    try:
        done = subprocess.run(  # noqa: S603 - this file
            command,
            input=order.encode(),
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=MAX_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"open_spiel did not answer within {MAX_SECONDS:g} s"
    if done.returncode == -signal.SIGXCPU:
        return f"open_spiel did not answer within {MAX_CPU_SECONDS:g} s of CPU time"
    if done.returncode == NO_MEMORY:
        return f"open_spiel needs more than {MAX_MEMORY_BYTES >> 20:,} MiB of memory"
    return None if done.returncode == 0 else "open_spiel crashed"


def find_walk_fault(game: Any, seed: int = 0, *, texts: bool = False) -> Exception | str | None:
    """Return why a random walk fails. Some wrong parameters cause an error only when the first state is made, or later.

    If `texts` is true, the walk also calls the functions of the states that make texts.
    """
    rng = random.Random(seed)
    try:
        state = game.new_initial_state()
        for ply in range(MAX_PLIES):
            if texts:
                _write(state, game.num_players())
            if state.is_terminal():
                return None
            together = state.is_simultaneous_node()
            seats = [state.legal_actions(seat) for seat in range(game.num_players())] if together else [state.legal_actions()]
            if not any(seats):
                return f"its state after {ply} random actions has no actions" if ply else "its first state has no actions"
            chosen = [rng.choice(actions) if actions else 0 for actions in seats]
            if together:
                state.apply_actions(chosen)
            else:
                state.apply_action(chosen[0])
    except Exception as error:  # its type depends on the game
        return error
    return None


def _write(state: Any, seats: int) -> None:
    """Call the functions of a state that make texts or numbers. Errors that they raise do not matter here."""
    calls: list[Any] = [lambda: str(state), state.chance_outcomes if state.is_chance_node() else state.returns]
    for seat in range(seats):
        calls += [
            lambda seat=seat: state.observation_string(seat),
            lambda seat=seat: state.information_state_string(seat),
            lambda seat=seat: [state.action_to_string(seat, action) for action in state.legal_actions(seat)],
        ]
    for call in calls:
        with suppress(RuntimeError, ValueError, NotImplementedError):
            call()


def _load(spiel: Any, text: str, kind: str) -> Any:
    if kind == "efg_game":
        return spiel.load_efg_game(text)
    if kind == "nfg_game":
        return spiel.load_nfg_game(text)
    if spiel.game_parameters_from_string(text).get("name") not in spiel.registered_names():
        import open_spiel.python.games  # noqa: F401 - registers the games that are written in Python
    return spiel.load_game(text)


def _try() -> int:
    text, kind, seconds, memory = json.loads(sys.stdin.buffer.read())
    import pyspiel

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    with suppress(OSError, ValueError):  # macOS has no limit of the address space
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        limit = memory + pages * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        game = _load(pyspiel, text, kind)
        if isinstance(find_walk_fault(game), MemoryError):
            return NO_MEMORY
        end, seed = monotonic() + MORE_WALKS_SECONDS, 0
        while monotonic() < end:
            seed += 1
            if isinstance(find_walk_fault(game, seed, texts=True), MemoryError):
                return NO_MEMORY
    except MemoryError:
        return NO_MEMORY
    except Exception:  # the caller loads the game, too, and reports this error
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(_try())
