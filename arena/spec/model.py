"""The keys of a spec and their types. The JSON Schema for editors is generated from these classes."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, WithJsonSchema, WrapValidator
from pydantic_core import PydanticCustomError

from arena.limits import Limits
from arena.secret import SECRET

MAX_SPEC_COUNT = 10**9
"""The largest value of any count in a spec."""
MAX_SEED = 2**63 - 1


def _read_seed(value: Any, number: Callable[[Any], int]) -> Any:
    if value == SECRET:
        return value
    if isinstance(value, str) and get_close_matches(value, [SECRET]):
        raise PydanticCustomError("seed", "Input should be an integer or `secret`")
    return number(value)


SpecSeed = Annotated[
    int,
    Field(ge=0, le=MAX_SEED),
    WrapValidator(_read_seed),  # faults are reported as for a number
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0, "maximum": MAX_SEED}, {"const": SECRET}]}),
]

Count = Annotated[int, Field(ge=1, le=MAX_SPEC_COUNT)]
"""The type of a key that counts something and is at least 1."""
Options = dict[str, Any]
Source = Annotated[str, Field(min_length=1)]
GivenGame = Annotated[  # a name such as 2048 is read as a number
    str | Options,
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "object", "additionalProperties": True}]}),
]


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class DecisionLimits(_Keys):
    """The resources that an agent may use for one decision."""

    nodes: Annotated[int, Field(ge=1, le=Limits.MAX_COUNT)] | None = Field(
        None, description="Maximum number of states per decision."
    )
    seconds: Annotated[FiniteFloat, Field(gt=0, le=10**7)] | None = Field(
        None, description="Maximum wall-clock seconds per decision."
    )
    depth: Annotated[int, Field(ge=1, le=10**6)] | None = Field(None, description="Maximum search depth in plies per decision.")
    memory_mb: Count | None = Field(None, description="Maximum memory of the agent's process, in MiB.")
    cpu_seconds: Annotated[FiniteFloat, Field(gt=0, le=10**7)] | None = Field(
        None, description="Maximum CPU seconds per decision, summed over all processes of the agent."
    )
    start_seconds: Annotated[FiniteFloat, Field(gt=0, le=10**7)] = Field(
        Limits().start_seconds, description="Maximum seconds before the first decision, if the agent has its own process."
    )


class MatchLimits(DecisionLimits):
    """The resources that an agent may use for one decision, and the largest length of a match."""

    moves: Count = Field(
        Limits().moves, description="Maximum number of moves. At the limit, a game is a draw and a puzzle is unsolved."
    )


class EntryKeys(BaseModel):
    """One entry of `agents`. Every other key is an option of the agent."""

    model_config = ConfigDict(extra="allow", strict=True, defer_build=True)

    agent: str | Options = Field(
        description="The name of an agent, or {command: [program, argument, ...]}; engines also need protocol: uci or gtp."
    )
    label: Annotated[str, Field(min_length=1, max_length=100)] | None = Field(None, description="The entry's name in tables.")
    heuristic: str | Options | None = Field(None, description="A name, {name: ..., parameters}, {game: name}, or none.")
    limits: DecisionLimits | Options | None = Field(None, description="Limits that apply only to this entry.")
    isolation: Any = Field(None, description="Where this agent runs; see `isolation` of the spec.")
    waits: bool | None = Field(
        None,
        description="True if the agent asks another service, such as a model on a network. If the service does not answer, "
        "the match is void, not lost. Default: the class decides; false for programs and entries with their own code.",
    )


class OpeningKeys(_Keys):
    """Random openings."""

    plies: Annotated[int, Field(ge=1, le=1000)] = Field(description="The number of random plies before the agents play.")


class DrawKeys(_Keys):
    """When a game ends as a draw: both seats have reported a level value for long enough."""

    after: Annotated[int, Field(ge=0, le=MAX_SPEC_COUNT)] = Field(
        40, description="A match with fewer moves is not ended as a draw."
    )
    moves: Count = Field(8, description="Number of consecutive decisions of each seat that must report a level value.")
    value: Annotated[FiniteFloat, Field(ge=0, le=1)] = Field(0.05, description="Largest absolute value that counts as level.")


class ResignKeys(_Keys):
    """When a seat resigns: it has reported a lost game for long enough."""

    moves: Count = Field(4, description="Number of consecutive decisions of one seat that must report a loss.")
    value: Annotated[FiniteFloat, Field(gt=0, le=1)] = Field(
        0.95, description="Values of at least this number mean a win, and values of at most its negative mean a loss."
    )
    both: bool = Field(False, description="True if the other seat must also report a win.")


class AdjudicateKeys(_Keys):
    """Rules that end a game by the values that agents report. Each rule applies only if it is given."""

    draw: DrawKeys | None = Field(None, description="The game is a draw if both seats report level values.")
    resign: ResignKeys | None = Field(None, description="A seat loses if it reports values of a lost game.")


class ReportKeys(_Keys):
    """Matches and columns of the boards. Both keys take formulas with the names and numbers of a match."""

    where: str | None = Field(None, description="The boards show only the matches for which this is true, as in nodes > 1000.")
    columns: dict[str, str] | None = Field(
        None, description="Additional columns: a name and its formula, as in rate: nodes / seconds."
    )


class SpecKeys(_Keys):
    """A tournament."""

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(None, description="Default: the file's stem.")
    game: GivenGame | None = Field(None, description="The game: a name, or {name: ..., parameters}.")
    games: Annotated[list[GivenGame], Field(min_length=1)] | None = Field(None, description="Several games, each with a board.")
    format: str | Options | None = Field(None, description="The format; default: round-robin for games, benchmark for puzzles.")
    rounds: Count | None = Field(None, description="The number of positions to draw; default 10.")
    positions: str | list[str] | dict[str, str | list[str]] | None = Field(
        None,
        description="Positions: a list, or a file (one position per line, or YAML). With `games`, also {game: either}.",
    )
    agents: list[str | Options] = Field(description="The entries that play.")
    limits: MatchLimits | None = Field(None, description="Default limits for all entries.")
    isolation: Any = Field(
        None,
        description="none: agents run in arena's own processes. process: each agent runs in its own process; the default for "
        "programs, plugins, and limits on seconds, CPU seconds or memory. sandbox: also without network and files.",
    )
    pondering: bool = Field(
        False, description="True if an agent in its own process may run while others decide. By default, it is paused."
    )
    openings: OpeningKeys | None = Field(None, description="Random moves before the agents play; all agents get the same ones.")
    adjudicate: AdjudicateKeys | None = Field(
        None, description="Ends two-player zero-sum games early, based on the values that agents report."
    )
    max_cost: Annotated[FiniteFloat, Field(gt=0, le=1e9)] | None = Field(
        None, description="Maximum total cost of the agents of a run, in the currency of `price`."
    )
    anchor: Annotated[str, Field(min_length=1)] | None = Field(None, description="The entry whose rating is 0.")
    columns: Annotated[list[str], Field(min_length=1)] | None = Field(None, description="The columns of the boards, in order.")
    report: ReportKeys | None = Field(None, description="The matches that boards show, and further columns.")
    sort: str | None = Field(None, description="The column to sort by; with `-` before it, the largest value comes first.")
    rank: Literal["wins", "returns"] | None = Field(
        None,
        description="Ranks games by score (a draw shares the point) or by mean returns, the default if a game is not zero-sum.",
    )
    orders: Any = Field(None, description="For round-robin and gauntlet: all orders of seats, or only rotations.")
    challengers: Any = Field(None, description="An option of the format gauntlet; you can also write it in `format`.")
    test: Any = Field(None, description="An option of the format head-to-head; you can also write it in `format`.")
    replays: Any = Field(None, description="An option of the format knockout; you can also write it in `format`.")
    seed: SpecSeed = Field(  # type: ignore[assignment]  # no default here: it follows from the entries
        None,
        description="The seed of all random numbers; `secret` draws a seed that is revealed when the run ends. Default: 0, or "
        "`secret` if an entry is a program, or has its own code in a sandbox.",
    )
    plugins: list[Source] | None = Field(None, description="Python files, relative to the spec, or modules.")
