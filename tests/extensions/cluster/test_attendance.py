"""Which workers count as gone because nothing is heard of them."""

from arena_cluster.dask import WORKER_SILENCE_SECONDS, Pulses, Workers
from arena_cluster.engine import Change


def test_a_silent_worker_counts_as_gone_until_its_next_heartbeat() -> None:
    """By how long the scheduler's word has stayed the same, whatever its clock says."""
    pulses = Pulses()
    for second in range(0, int(WORKER_SILENCE_SECONDS) + 1, 5):
        pulses.take({"a": 1e9 + second, "b": -5.0}, float(second))
        assert not pulses.still
    pulses.take({"a": 2e9, "b": -5.0}, WORKER_SILENCE_SECONDS + 5)
    assert pulses.still == {"b"}
    pulses.take({"a": 3e9, "b": -4.0}, WORKER_SILENCE_SECONDS + 10)
    assert not pulses.still


def test_many_workers_are_given_more_time() -> None:
    """Dask's beat slows down with their number: 51 s between two of each of 10,000."""
    pulses = Pulses()
    heard = {str(number): 0.0 for number in range(10_000)}
    pulses.take(heard, 0.0)
    pulses.take(heard, 400.0)
    assert not pulses.still
    pulses.take(heard, 501.0)
    assert len(pulses.still) == 10_000


def test_a_scheduler_that_was_away_begins_anew() -> None:
    """Nobody is blamed for its absence."""
    pulses = Pulses()
    pulses.take({"a": 1.0}, 0.0)
    pulses.restart()
    pulses.take({"a": 1.0}, 100.0)
    assert not pulses.still


def test_the_next_tournament_knows_all_workers_that_are_there() -> None:
    """Those that have gone meanwhile are no news."""
    workers = Workers()
    workers.seen({"a": 1, "b": 2}, 0.0)
    assert workers.changes() == [Change("a", 1), Change("b", 2)]
    workers.gone("a", leave=False)
    workers.again()
    assert workers.changes() == [Change("b", 2)]
    assert not workers.changes()
