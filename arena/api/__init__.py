"""The surface for extensions: what a package that adds to arena may import beside `arena` itself.

Everything else in `arena` is private and may change with any release.

| module | what it offers |
|---|---|
| `arena.api.cli` | commands |
"""
