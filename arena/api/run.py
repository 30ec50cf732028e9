"""A run: its matches, its players, and the processes that play them."""

from arena.schedule.fingerprint import Fingerprint
from arena.schedule.runner import Correction, CurrentTurn, MatchRunner
from arena.schedule.schedule import Backlog, Batch, Schedule, Scheduled
from arena.store.store import transcript_file
from arena.tournament.code_check import check_code
from arena.tournament.queue import MatchQueue
from arena.tournament.results import PlayedMatch
from arena.tournament.run import Monitor, Players, RunSettings, StartedRun, play_tournament
from arena.workers.pool import WorkerPool

__all__ = [
    "Backlog",
    "Batch",
    "Correction",
    "CurrentTurn",
    "Fingerprint",
    "MatchQueue",
    "MatchRunner",
    "Monitor",
    "PlayedMatch",
    "Players",
    "RunSettings",
    "Schedule",
    "Scheduled",
    "StartedRun",
    "WorkerPool",
    "check_code",
    "play_tournament",
    "transcript_file",
]
