"""A run: its matches, its players, and the processes that play them."""

from arena.schedule.fingerprint import Fingerprint
from arena.schedule.runner import Correction, CurrentTurn, MatchRunner
from arena.schedule.schedule import Backlog, Batch, Schedule, Scheduled
from arena.tournament.code_check import check_code
from arena.tournament.queue import MatchQueue, transcript_file
from arena.tournament.results import PlayedMatch
from arena.tournament.run import Players, StartedRun, play_all
from arena.workers.pool import WorkerPool

__all__ = [
    "Backlog",
    "Batch",
    "Correction",
    "CurrentTurn",
    "Fingerprint",
    "MatchQueue",
    "MatchRunner",
    "PlayedMatch",
    "Players",
    "Schedule",
    "Scheduled",
    "StartedRun",
    "WorkerPool",
    "check_code",
    "play_all",
    "transcript_file",
]
