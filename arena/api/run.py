"""A run: its matches, its players, and the processes that play them."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.parts import Correction as Correction
    from arena.schedule.fingerprint import Fingerprint as Fingerprint
    from arena.schedule.runner import CurrentTurn as CurrentTurn, MatchRunner as MatchRunner
    from arena.schedule.schedule import Backlog as Backlog, Batch as Batch, Schedule as Schedule, Scheduled as Scheduled
    from arena.tournament.code_check import check_code as check_code
    from arena.tournament.queue import MatchQueue as MatchQueue, transcript_file as transcript_file
    from arena.tournament.results import PlayedMatch as PlayedMatch
    from arena.tournament.run import Players as Players, StartedRun as StartedRun, play_all as play_all
    from arena.workers.pool import WorkerPool as WorkerPool
else:
    __getattr__, __dir__ = pass_on(__name__)
