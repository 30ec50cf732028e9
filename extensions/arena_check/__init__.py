"""The conformance kit: `arena check`, `arena try`, and fixtures for pytest. `arena.testing` takes its names from the module
`kit`.
"""
