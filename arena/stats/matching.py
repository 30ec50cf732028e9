"""Matchings in any graph: as many disjoint pairs of neighbours as there can be, kept up while vertices leave.

J. Edmonds, Paths, Trees, and Flowers, 1965: a matching is as large as possible when no path leads from one vertex without a
partner to another, every second edge of it being in the matching. The search for such a path shrinks every odd cycle (a blossom)
to its base.
"""

from collections.abc import Iterable, Sequence


class Matching:
    """A largest matching of the vertices 0, 1, ... that are present, all that `neighbors` lists or those of `present`.

    `neighbors` holds for each vertex those that it may be matched with, both ways; it is not copied.
    """

    def __init__(self, neighbors: Sequence[Sequence[int]], present: Iterable[int] | None = None) -> None:
        self._neighbors = neighbors
        self._present = [present is None] * len(neighbors)
        for vertex in present or ():
            self._present[vertex] = True
        self.partner: list[int | None] = [None] * len(neighbors)
        for vertex in self._vertices():
            self._match_at_once(vertex)
        self._enlarge()

    @property
    def exposed(self) -> list[int]:
        """The present vertices without a partner; by the matching's size their number is the least possible."""
        return [vertex for vertex in self._vertices() if self.partner[vertex] is None]

    def remove(self, *vertices: int, exposing: int) -> bool:
        """Take vertices out and make the matching as large as it can be again, if then at most `exposing` have no partner.

        Otherwise nothing changes, and the answer is False.
        """
        kept = list(self.partner)
        for vertex in vertices:
            self._present[vertex] = False
            partner, self.partner[vertex] = self.partner[vertex], None
            if partner is not None:
                self.partner[partner] = None
        self._enlarge()
        if len(self.exposed) <= exposing:
            return True
        self.put_back(*vertices, partner=kept)
        return False

    def put_back(self, *vertices: int, partner: list[int | None]) -> None:
        """Take vertices in again, with the matching that there was with them."""
        self.partner = partner
        for vertex in vertices:
            self._present[vertex] = True

    def _vertices(self) -> Iterable[int]:
        return (vertex for vertex, present in enumerate(self._present) if present)

    def _match_at_once(self, vertex: int) -> None:
        if self.partner[vertex] is None:
            for other in self._neighbors[vertex]:
                if self._present[other] and self.partner[other] is None:
                    self.partner[vertex], self.partner[other] = other, vertex
                    return

    def _enlarge(self) -> None:
        """Start from every vertex without a partner; where no path leads now, none will after others are used."""
        for vertex in self._vertices():
            if self.partner[vertex] is None:
                self._augment(vertex)

    def _augment(self, root: int) -> bool:
        """Look for a path from a vertex without a partner to another one, and match along it."""
        search = _Search(root, self.partner)
        for vertex in search.outer:  # grows while it is gone through
            for other in self._neighbors[vertex]:
                if not self._present[other] or search.base[vertex] == search.base[other] or self.partner[vertex] == other:
                    continue
                if search.is_outer(other):
                    search.shrink(vertex, other)
                elif search.parent[other] is None:
                    search.parent[other] = vertex
                    partner = self.partner[other]
                    if partner is None:
                        self._flip(other, search.parent)
                        return True
                    search.reach(partner)
        return False

    def _flip(self, end: int, parent: Sequence[int | None]) -> None:
        vertex: int | None = end
        while vertex is not None:
            before = parent[vertex]
            if before is None:
                return
            after = self.partner[before]
            self.partner[vertex], self.partner[before] = before, vertex
            vertex = after


class _Search:
    """The tree of alternating paths from a root: outer vertices are an even number of edges away, on some path."""

    def __init__(self, root: int, partner: Sequence[int | None]) -> None:
        self._root = root
        self._partner = partner
        self.parent: list[int | None] = [None] * len(partner)
        """The vertex before, for those that were reached by an edge outside the matching."""
        self.base = list(range(len(partner)))
        """The base of the outermost blossom that a vertex lies in, or itself."""
        self._is_outer = [False] * len(partner)
        self.outer: list[int] = []
        self.reach(root)

    def is_outer(self, vertex: int) -> bool:
        return self._is_outer[vertex]

    def reach(self, vertex: int) -> None:
        self._is_outer[vertex] = True
        self.outer.append(vertex)

    def shrink(self, one: int, other: int) -> None:
        """Make the odd cycle closed by an edge between two outer vertices one outer vertex, which its base stands for."""
        base = self._meeting(one, other)
        inside: set[int] = set()
        self._mark(one, base, other, inside)
        self._mark(other, base, one, inside)
        for vertex, outermost in enumerate(self.base):
            if outermost in inside:
                self.base[vertex] = base
                if not self._is_outer[vertex]:
                    self.reach(vertex)

    def _meeting(self, one: int, other: int) -> int:
        """The base where the paths of two outer vertices to the root first meet."""
        seen = set()
        vertex = self.base[one]
        seen.add(vertex)
        while vertex != self._root:
            vertex = self._up(vertex)
            seen.add(vertex)
        vertex = self.base[other]
        while vertex not in seen:
            vertex = self._up(vertex)
        return vertex

    def _up(self, outer: int) -> int:
        """The base two edges nearer to the root."""
        inner = self._partner[outer]
        before = None if inner is None else self.parent[inner]
        return self.base[self._root if before is None else before]

    def _mark(self, vertex: int, base: int, child: int, inside: set[int]) -> None:
        """Note the bases on the way from a vertex to the cycle's base, and let the vertices between point around the cycle."""
        while self.base[vertex] != base:
            inner = self._partner[vertex]
            if inner is None:
                return
            inside.update((self.base[vertex], self.base[inner]))
            self.parent[vertex] = child
            child = inner
            before = self.parent[inner]
            vertex = vertex if before is None else before
