"""What an agent process uses of the processors in a match, decision by decision."""

from arena.processes.family_clock import FamilyClock


class ProcessorUse:
    """Processor time of an agent and its lack of it, in seconds.

    A reading takes longer than many a decision, so short ones are not read: the next reading covers them too, and takes off as
    much as they can have used on one processor.
    """

    def __init__(self, clock: FamilyClock) -> None:
        self._clock = clock
        self._lack = self._used = self._short = 0.0
        clock.begin()

    @property
    def lack(self) -> float:
        """How long decisions of this match could have run and had no processor."""
        return self._lack + self.lack_now()

    @property
    def used(self) -> float:
        """The processor time of this match."""
        return self._used + self._clock.used()

    def used_now(self) -> float:
        """The processor time of this decision."""
        return max(0.0, self._clock.used() - self._short)

    def lack_now(self) -> float:
        """How long this decision could have run and had no processor."""
        return max(0.0, self._clock.lack() - self._short)

    def look(self, *, now: bool) -> None:
        """List the processes of the agent anew, without `now` only where it is time."""
        self._clock.look(now=now)

    def add_short(self, seconds: float) -> None:
        """Add a decision of so many seconds, without a look at what it used."""
        self._short += seconds

    def add(self) -> None:
        """Add what has been used up to now; the next decision begins."""
        self._lack, self._used, self._short = self.lack, self.used, 0.0
        self._clock.begin()
