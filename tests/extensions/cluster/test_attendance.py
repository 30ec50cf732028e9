"""Workers count as gone after a long silence."""

from arena_cluster.dask import WORKER_SILENCE_SECONDS, Pulses, Workers
from arena_cluster.engine import Change


def test_a_silent_worker_counts_as_gone_until_its_next_heartbeat() -> None:
    """The duration of the silence counts, not the scheduler's clock."""
    pulses = Pulses()
    for second in range(0, int(WORKER_SILENCE_SECONDS) + 1, 5):
        pulses.take({"a": 1e9 + second, "b": -5.0}, float(second))
        assert not pulses.still
    pulses.take({"a": 2e9, "b": -5.0}, WORKER_SILENCE_SECONDS + 5)
    assert pulses.still == {"b"}
    pulses.take({"a": 3e9, "b": -4.0}, WORKER_SILENCE_SECONDS + 10)
    assert not pulses.still


def test_workers_of_a_large_cluster_get_more_time() -> None:
    """Dask sends fewer heartbeats if there are many workers: each of 10,000 workers sends one every 51 s."""
    pulses = Pulses()
    heard = {str(number): 0.0 for number in range(10_000)}
    pulses.take(heard, 0.0)
    pulses.take(heard, 400.0)
    assert not pulses.still
    pulses.take(heard, 501.0)
    assert len(pulses.still) == 10_000


def test_silence_of_workers_is_measured_anew_after_the_scheduler_restarts() -> None:
    """The absence of the scheduler does not count against its workers."""
    pulses = Pulses()
    pulses.take({"a": 1.0}, 0.0)
    pulses.restart()
    pulses.take({"a": 1.0}, 100.0)
    assert not pulses.still


def test_the_next_tournament_knows_all_present_workers() -> None:
    """Workers that have left are not reported as changes."""
    workers = Workers()
    workers.seen({"a": 1, "b": 2}, 0.0)
    assert workers.changes() == [Change("a", 1), Change("b", 2)]
    workers.gone("a", leave=False)
    workers.again()
    assert workers.changes() == [Change("b", 2)]
    assert not workers.changes()
