"""A run: its matches, its players, and the processes that play them."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.parts import Executor as Executor
    from arena.parts import Players as Players
    from arena.schedule.fingerprint import Fingerprint as Fingerprint
    from arena.schedule.fingerprint import is_trusted as is_trusted
    from arena.schedule.fingerprint import take_fingerprints as take_fingerprints
    from arena.schedule.runner import MatchRunner as MatchRunner
    from arena.schedule.runner import check_isolations as check_isolations
    from arena.schedule.runner import make_unplayed as make_unplayed
    from arena.schedule.schedule import Backlog as Backlog
    from arena.schedule.schedule import Batch as Batch
    from arena.schedule.schedule import Schedule as Schedule
    from arena.schedule.schedule import Scheduled as Scheduled
    from arena.secret import seed_of_round as seed_of_round
    from arena.tournament.code_check import check_code as check_code
    from arena.tournament.queue import MatchQueue as MatchQueue
    from arena.tournament.results import PlayedMatch as PlayedMatch
    from arena.tournament.run import Matches as Matches
    from arena.tournament.run import play_all as play_all
    from arena.workers.pool import WorkerPool as WorkerPool
else:
    __getattr__, __dir__ = pass_on(__name__)
