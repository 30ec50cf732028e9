"""The Universal Chess Interface (S. Meyer-Kahlen, 2006), for any game that has a `dialects` entry `uci`.

The value of a score in centipawns is `2 / (1 + 10 ** (-cp / 400)) - 1`, as on the scale of Elo. If the engine reports its
chances to win and to lose (`UCI_ShowWDL`), the value is the difference between the two. The value of a mate is 1 or -1.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import exp, log
from typing import Annotated, Any

from pydantic import Field

from arena import Action, Limits, State
from arena.api.errors import cut, suggest
from arena.api.games import read_digits
from arena_bridges.dialects import Dialect, Uci
from arena_bridges.engines.adapter import EngineConversation, main
from arena_bridges.engines.engine_process import MAX_ANSWER_BYTES, EngineFault
from arena_bridges.engines.entries import EngineAgent
from arena_isolation.agent_host import Message

OVERHEAD_SECONDS = 0.02
"""Seconds of a decision that are reserved for communication with the engine."""
WDL_SUM = 1000
"""The sum of the chances to win, draw and lose, which UCI expresses in thousandths."""
Setting = str | int | float | bool | None


class UciEngine(EngineAgent):
    """An engine that speaks UCI. The limits on nodes, depth and seconds are sent as `nodes`, `depth` and `movetime` of `go`."""

    name = "uci"
    keeps = frozenset({"nodes", "depth", "seconds"})

    def __init__(self, *, depth: Annotated[int, Field(ge=1)] | None = None, options: dict[str, Setting] | None = None) -> None:
        self.depth = depth
        self.options = options

    def limit_fault(self, limits: Limits) -> str | None:
        """Return a message if an entry has no limit, because `go` would never end."""
        if self.depth is None and limits.depth is None and limits.nodes is None and limits.seconds is None:
            return "an engine without limits never stops: give it limits: {nodes: 100000}, {seconds: 1} or {depth: 8}"
        return super().limit_fault(limits)


class UciConversation(EngineConversation):
    """A conversation with an engine that speaks UCI."""

    protocol = "uci"
    _dialect: Uci

    def take(self, dialect: Dialect) -> None:
        """Keep the dialect. Raises EngineFault if it is for another protocol."""
        if not isinstance(dialect, Uci):
            raise EngineFault(f"{self.game.name}: dialects: uci: expected a Uci, got {dialect!r}")
        self._dialect = dialect

    def greet(self) -> None:
        """Send `uci`, and read the options of the engine."""
        self._known: dict[str, str] = {}
        self.engine.send("uci")
        for line in self._until("uciok"):
            words = line.split()
            if words[:2] == ["option", "name"] and "type" in words:
                kind = words.index("type")
                self._known[" ".join(words[2:kind])] = " ".join(words[kind:])

    def prepare(self, options: Mapping[str, Any], *, first: bool) -> None:
        """Set the options of the engine and of the game, and send `ucinewgame`."""
        self._depth = options.get("depth")
        for name, value in {**self._dialect.options, **(options.get("options") or {} if first else {})}.items():
            known = {one.lower(): one for one in self._known}  # names are case-insensitive
            if name.lower() not in known:
                raise EngineFault(f"{self.engine.name} has no option {name!r}; {cut(suggest(name, self._known), 300)}")
            text = str(value).lower() if isinstance(value, bool) else str(value)
            wrong = option_fault(self._known[known[name.lower()]], text)
            if wrong is not None:
                raise EngineFault(f"{self.engine.name}: option {name}: expected {wrong}, got {text!r}")
            self.engine.send(f"setoption name {known[name.lower()]}" + ("" if value is None else f" value {text}"))
        self.engine.send("ucinewgame")
        self.engine.send("isready")
        list(self._until("readyok"))

    def place(self, state: State) -> None:
        """Keep the first position of the match, because UCI repeats the whole match at every move."""
        self._position = f"position fen {self._dialect.fen(state)}"
        self._moves: list[str] = []
        self._begun = " moves " in self._position

    def play(self, state: State, action: Action) -> None:
        """Keep a move."""
        write = self._dialect.move or self.game.format_action
        if not (self._moves or self._begun):
            self._moves.append("moves")
        self._moves.append(write(state, action))

    def choose(self, state: State) -> Message:
        """Send `go` and read its lines until `bestmove`."""
        engine = self.engine
        engine.stop = lambda: engine.send("stop")
        engine.send(" ".join([self._position, *self._moves]))
        engine.send(f"go {go(self.limits, self._depth)}")
        engine.bytes_left = None
        found: Message = {}
        while True:
            words = engine.receive("bestmove").split()
            if words[:1] == ["info"]:
                found.update(info(words))
            elif words[:1] == ["bestmove"]:
                if len(words) < 2:
                    raise engine.misspoke("a move after bestmove", "bestmove")
                return {"action": words[1], **found}

    def read(self, state: State, text: str) -> Action:
        """Return the action for a move."""
        return (self._dialect.action or self.game.parse_action)(state, text)

    def _until(self, word: str) -> Iterator[str]:
        """Yield the lines from the engine before the line that is `word`. Callers ignore unknown lines, as UCI requires."""
        last = None
        self.engine.bytes_left = MAX_ANSWER_BYTES
        while True:
            try:
                last = self.engine.receive(f"{word}, as defined by UCI")
            except EngineFault as fault:
                raise EngineFault(str(fault) + ("" if last is None else f"; its last output was {last[:80]!r}")) from None
            if last == word:
                return
            yield last


def go(limits: Mapping[str, Any], depth: int | None = None) -> str:
    """Return the words after `go` for the limits of a decision and the agent's option `depth`."""
    depths = [one for one in (limits["depth"], depth) if one is not None]
    words = [] if limits["nodes"] is None else [f"nodes {limits['nodes']}"]
    words += [f"depth {min(depths)}"] if depths else []
    if limits["seconds"] is not None:
        seconds = max(limits["seconds"] - OVERHEAD_SECONDS, limits["seconds"] / 2)
        words.append(f"movetime {max(1, int(1000 * seconds))}")
    return " ".join(words)


def info(words: list[str]) -> Message:
    """Return the nodes, the depth and the value from a line with `info`. A score that is only a bound is left
    out, and so are numbers that cannot be true, such as chances that do not add up.
    """
    if "string" in words:
        words = words[: words.index("string")]
    told: Message = {}
    after = dict(pairwise(words))
    if (nodes := _read_count(after.get("nodes", ""))) is not None:
        told["nodes"] = nodes
    if "score" in words and not {"lowerbound", "upperbound"} & set(words) and after.get("multipv", "1") == "1":
        value = _value(words)
        if value is not None:
            told["value"] = value
            told["exact"] = "mate" in words
        if (depth := _read_count(after.get("depth", ""))) is not None:
            told["depth"] = depth
    return told


def _value(words: list[str]) -> float | None:
    at = words.index("score")
    kind, number = words[at + 1 : at + 2], _read_signed("".join(words[at + 2 : at + 3]))
    if number is None:
        return None
    if kind == ["mate"]:
        return 1.0 if number > 0 else -1.0
    if "wdl" in words:
        shares = [read_digits(word) for word in words[words.index("wdl") + 1 :][:3]]
        known = [share for share in shares if share is not None]
        if len(known) != 3 or abs(sum(known) - WDL_SUM) > 1:  # the three are rounded
            return None
        return (known[0] - known[2]) / sum(known)
    if kind != ["cp"]:
        return None
    pawns = max(-100.0, min(100.0, number / 100))
    return 2.0 / (1.0 + exp(-pawns * log(10.0) / 4)) - 1.0


def _read_count(text: str) -> int | None:
    """Return a count that a record can hold; None for any other text."""
    count = read_digits(text)
    return count if Limits.is_count(count) else None


def option_fault(told: str, value: str) -> str | None:
    """Return the allowed values of an option as text; None if `value` is allowed. `told` is the text after the option's name.

    >>> option_fault("type spin default 16 min 1 max 1024", "2000")
    'a whole number from 1 to 1024'
    """
    words = told.split()
    after = dict(pairwise(words))
    if after.get("type") == "spin":
        low, high, asked = map(_read_signed, (after.get("min", "0"), after.get("max", "0"), value))
        if low is None or high is None or low > high:
            return None if asked is not None else "a whole number"
        return None if asked is not None and low <= asked <= high else f"a whole number from {low} to {high}"
    if after.get("type") == "check":
        return None if value in ("true", "false") else "true or false"
    if after.get("type") == "combo":
        taken = [one.strip() for one in told.split(" var ")[1:]]
        return None if value.lower() in [one.lower() for one in taken] else cut(f"one of {', '.join(taken)}", 300)
    return None


def _read_signed(text: str) -> int | None:
    digits = read_digits(text.removeprefix("-"))
    return digits if digits is None or not text.startswith("-") else -digits


if __name__ == "__main__":
    main(UciConversation)
