"""Maximum-cardinality matchings: as many disjoint pairs of neighbours in a graph as there can be."""

from collections.abc import Collection, Sequence


class NeighborGraph:
    """A graph of the vertices 0, 1, ..., of which questions are asked about parts of it.

    The matchings are rustworkx's: J. Edmonds, Paths, Trees, and Flowers, 1965, by the algorithm of Z. Galil, 1986.
    """

    def __init__(self, neighbors: Sequence[Collection[int]]) -> None:
        """`neighbors` holds for each vertex those that it may be matched with, both ways."""
        import rustworkx

        self.neighbors = neighbors
        self._graph = rustworkx.PyGraph()
        self._graph.add_nodes_from(range(len(neighbors)))
        self._graph.add_edges_from_no_data([(one, two) for one, found in enumerate(neighbors) for two in found if one < two])

    def exposed(self, present: Collection[int]) -> int:
        """The number of vertices that a maximum matching of the subgraph of the `present` ones leaves without a partner.

        It does not depend on which of the maximum matchings is found.
        """
        import rustworkx

        part = self._graph.subgraph(list(present))
        return len(present) - 2 * len(rustworkx.max_weight_matching(part, max_cardinality=True))
