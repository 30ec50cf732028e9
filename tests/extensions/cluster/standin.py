"""A simulated cluster in this process answers with records. Tests can make it fail."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from arena.match.record import Record
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Scheduled
from arena.spec import Spec
from arena_cluster import wire
from arena_cluster.engine import Change, Order, Reply, SlowStart

Play = Callable[[Scheduled], Record]


class Standin:
    """Virtual workers that play when `replies` is called. `told` has the workers that already know the tournament."""

    def __init__(self, spec: Spec, workers: Sequence[str], *, play: Play | None = None, seconds: float = 0.5) -> None:
        self.play = play or MatchRunner(spec).play
        self.seconds = seconds
        """The seconds per match that the workers report."""
        self.told: set[str] = set()
        self.out: dict[str, tuple[str, Order]] = {}
        self.pending: list[Change] = [Change(name, 1) for name in workers]
        self.tries = 0
        """The number of matches that were sent to workers; repeats count again."""
        self.most_out = 0
        self.closed = 0
        self.answers: dict[str, Callable[[Order], bytes | None]] = {}
        """The answers of workers that do not play. If a function returns None, the order is lost on the way."""
        self.silent: set[str] = set()
        """Workers that are connected, but never answer."""
        self.deadly: frozenset[int] = frozenset()
        """The numbers of matches that kill a worker, which is then replaced by another one."""
        self.deaths = 0
        self.sent: deque[str] = deque()
        self.starts: dict[str, SlowStart] = {}
        """The value that `slow_starts` returns."""

    def changes(self) -> Sequence[Change]:
        changes, self.pending = self.pending, []
        return changes

    def send(self, order: Order, node: str) -> None:
        self.out[order.key] = (node, order)
        self.sent.append(order.key)
        self.tries += len(order.matches)
        self.most_out = max(self.most_out, len(self.out))

    def drop(self, key: str) -> None:
        self.out.pop(key, None)

    def replies(self, seconds: float) -> Sequence[Reply]:
        found = []
        sent, self.sent = self.sent, deque()
        for key in sent:
            if key in self.out:
                found += self._reply(key)
        return found

    def _reply(self, key: str) -> list[Reply]:
        node, order = self.out[key]
        if node in self.silent:
            return []
        if any(one.number in self.deadly for one in order.matches):
            self.deaths += 1
            self.pending += [Change(node, 0), Change(f"{node}'", 1)]
            return []
        del self.out[key]
        if node in self.answers:
            return [Reply(key, self.answers[node](order))]
        if order.parcel is not None:
            self.told.add(node)
        if node not in self.told:
            return [Reply(key, wire.wants_parcel())]
        records = [self.play(one) for one in order.matches]
        return [Reply(key, wire.answer(records, self.seconds * len(records)))]

    def slow_starts(self) -> Mapping[str, SlowStart]:
        return self.starts

    def close(self, run: str) -> None:
        self.closed += 1
