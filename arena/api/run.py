"""A run: its matches, its players, and the processes that play them."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.parts import Executor as Executor, Players as Players
    from arena.schedule.fingerprint import (
        Fingerprint as Fingerprint,
        is_trusted as is_trusted,
        take_fingerprints as take_fingerprints,
    )
    from arena.schedule.runner import (
        MatchRunner as MatchRunner,
        check_isolations as check_isolations,
        make_unplayed as make_unplayed,
    )
    from arena.schedule.schedule import Backlog as Backlog, Batch as Batch, Schedule as Schedule, Scheduled as Scheduled
    from arena.secret import seed_of_round as seed_of_round
    from arena.tournament.code_check import check_code as check_code
    from arena.tournament.queue import MatchQueue as MatchQueue
    from arena.tournament.results import PlayedMatch as PlayedMatch
    from arena.tournament.run import Matches as Matches, play_all as play_all
    from arena.workers.pool import WorkerPool as WorkerPool
else:
    __getattr__, __dir__ = pass_on(__name__)
