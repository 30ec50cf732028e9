"""The conformance kit: `arena check`, `arena try`, and the fixtures for pytest. `kit` has the names of `arena.testing`."""
