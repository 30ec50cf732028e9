"""A run: its matches, its players, and the processes that play them."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

# looked up on first use, because a process that only plays matches or holds an agent needs few of these names
if TYPE_CHECKING:
    from arena.schedule.fingerprint import Fingerprint as Fingerprint
    from arena.schedule.runner import Correction as Correction, CurrentTurn as CurrentTurn, MatchRunner as MatchRunner
    from arena.schedule.schedule import Backlog as Backlog, Batch as Batch, Schedule as Schedule, Scheduled as Scheduled
    from arena.store.store import transcript_file as transcript_file
    from arena.tournament.code_check import check_code as check_code
    from arena.tournament.queue import MatchQueue as MatchQueue
    from arena.tournament.results import PlayedMatch as PlayedMatch
    from arena.tournament.run import (
        Monitor as Monitor,
        Players as Players,
        RunSettings as RunSettings,
        StartedRun as StartedRun,
        play_tournament as play_tournament,
    )
    from arena.workers.pool import WorkerPool as WorkerPool
else:
    __getattr__, __dir__ = pass_on(
        __name__,
        {
            "arena.schedule.fingerprint": "Fingerprint",
            "arena.schedule.runner": "Correction CurrentTurn MatchRunner",
            "arena.schedule.schedule": "Backlog Batch Schedule Scheduled",
            "arena.store.store": "transcript_file",
            "arena.tournament.code_check": "check_code",
            "arena.tournament.queue": "MatchQueue",
            "arena.tournament.results": "PlayedMatch",
            "arena.tournament.run": "Monitor Players RunSettings StartedRun play_tournament",
            "arena.workers.pool": "WorkerPool",
        },
    )
