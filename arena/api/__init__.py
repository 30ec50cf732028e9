"""The interface for extensions. A package that extends arena may import these modules in addition to `arena`.

| module | contents |
|---|---|
| `arena.api.cli` | commands: their options, their plugins and their notices |
| `arena.api.errors` | errors, and how a message describes a value, a name or an exception |
| `arena.api.games` | games, agents and heuristics: their optional members, and how they are bound to each other |
| `arena.api.match` | one match: its players, its referee and its record |
| `arena.api.processes` | child processes, trees of them, and interrupts by the user |
| `arena.api.results` | boards, tallies and exports |
| `arena.api.run` | a run: its schedule, its queue, and the processes that play its matches |
| `arena.api.search` | search engines and metering |
| `arena.api.spec` | a spec, and the plugins that it names |
| `arena.api.store` | the file that keeps the matches of a tournament |

Also public are `arena.stats` (statistics), `arena.compiled` (rules that can be compiled) and `arena.testing`. Everything else in
`arena` is private and may change with any release.
"""
