"""A run: its matches, who plays them, and the processes that do."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.format import Pairing
    from arena.parts import Executor, Players
    from arena.processes.child import ChildLost, launch_command, python_environment, signal_name
    from arena.processes.helper import Helper, pack, serve, take_pipes
    from arena.processes.process_tree import ProcessTree
    from arena.schedule.fingerprint import Fingerprint, take_fingerprints
    from arena.schedule.runner import MatchRunner, check_isolations, make_unplayed
    from arena.schedule.schedule import Batch, Schedule, Scheduled
    from arena.tournament.queue import MatchQueue
    from arena.tournament.results import PlayedMatch, Results
    from arena.tournament.run import Matches, play_all, record_all

_HOMES = {
    "arena.format": "Pairing",
    "arena.parts": "Executor Players",
    "arena.processes.child": "ChildLost launch_command python_environment signal_name",
    "arena.processes.helper": "Helper pack serve take_pipes",
    "arena.processes.process_tree": "ProcessTree",
    "arena.schedule.fingerprint": "Fingerprint take_fingerprints",
    "arena.schedule.runner": "MatchRunner check_isolations make_unplayed",
    "arena.schedule.schedule": "Batch Schedule Scheduled",
    "arena.tournament.queue": "MatchQueue",
    "arena.tournament.results": "PlayedMatch Results",
    "arena.tournament.run": "Matches play_all record_all",
}
_PLACES = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = [
    "Batch",
    "ChildLost",
    "Executor",
    "Fingerprint",
    "Helper",
    "MatchQueue",
    "MatchRunner",
    "Matches",
    "Pairing",
    "PlayedMatch",
    "Players",
    "ProcessTree",
    "Results",
    "Schedule",
    "Scheduled",
    "check_isolations",
    "launch_command",
    "make_unplayed",
    "pack",
    "play_all",
    "python_environment",
    "record_all",
    "serve",
    "signal_name",
    "take_fingerprints",
    "take_pipes",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: a plugin that only registers itself imports nothing heavy."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
