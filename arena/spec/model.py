"""The keys of a spec and their types. The JSON Schema for editors is generated from this."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, WithJsonSchema, WrapValidator

from arena.limits import Limits
from arena.secret import SECRET

MAX_SPEC_COUNT = 10**9
"""No count in a spec may be larger."""
MAX_SEED = 2**63 - 1
SpecSeed = Annotated[
    int,
    Field(ge=0, le=MAX_SEED),
    WrapValidator(lambda value, number: value if value == SECRET else number(value)),  # faults are reported as for a number
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0, "maximum": MAX_SEED}, {"const": SECRET}]}),
]

Count = Annotated[int, Field(ge=1, le=MAX_SPEC_COUNT)]
"""The type of a key that counts something, from 1."""
Options = dict[str, Any]
Source = Annotated[str, Field(min_length=1)]
GivenGame = Annotated[  # a name such as 2048 is read as a number
    str | Options,
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "object", "additionalProperties": True}]}),
]


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class DecisionLimits(_Keys):
    """What an agent may use for one decision."""

    nodes: Annotated[int, Field(ge=1, le=Limits.MAX_COUNT)] | None = Field(None, description="States generated.")
    seconds: Annotated[FiniteFloat, Field(gt=0, le=10**7)] | None = Field(None, description="Wall-clock seconds.")
    depth: Annotated[int, Field(ge=1, le=10**6)] | None = Field(None, description="Plies.")
    memory_mb: Count | None = Field(None, description="Memory of the agent's process, in MiB.")
    cpu_seconds: Annotated[FiniteFloat, Field(gt=0, le=10**7)] | None = Field(
        None, description="Processor time of all processes of the agent, in seconds."
    )
    start_seconds: Annotated[FiniteFloat, Field(gt=0, le=10**7)] = Field(
        Limits().start_seconds, description="Wall-clock seconds before the first decision of a match, in a process of its own."
    )


class MatchLimits(DecisionLimits):
    """What an agent may use for one decision, and how long a match may be."""

    moves: Count = Field(Limits().moves, description="Moves of a match; then a game is a draw and a puzzle unsolved.")


class EntryKeys(BaseModel):
    """One entry of `agents`; every other key is an option of the agent."""

    model_config = ConfigDict(extra="allow", strict=True)

    agent: str | Options = Field(
        description="The name of an agent, or {command: [program, argument, ...]}; of engines with protocol: uci or gtp."
    )
    label: Annotated[str, Field(min_length=1, max_length=100)] | None = Field(None, description="What tables call it.")
    heuristic: str | Options | None = Field(None, description="A name, {name: ..., parameters}, or {game: name}.")
    limits: DecisionLimits | Options | None = Field(None, description="Limits of this entry alone.")
    isolation: Any = Field(None, description="Where this agent runs; see the key of the spec.")
    waits: bool | None = Field(
        None,
        description="Whether the agent waits for something outside, such as a model behind a network, and may be unavailable "
        "without losing; default: as its class says, and false for programs and for entries with code of their own.",
    )


class OpeningKeys(_Keys):
    """Openings by lot."""

    plies: Annotated[int, Field(ge=1, le=1000)] = Field(description="How many random plies are played first.")


class DrawKeys(_Keys):
    """When both seats have called a game level for long enough."""

    after: Annotated[int, Field(ge=0, le=MAX_SPEC_COUNT)] = Field(
        40, description="Moves of the match before which nothing is drawn."
    )
    moves: Count = Field(8, description="The last decisions of each seat that must agree.")
    value: Annotated[FiniteFloat, Field(ge=0, le=1)] = Field(0.05, description="The largest magnitude of a level value.")


class ResignKeys(_Keys):
    """When a seat has called its game lost for long enough."""

    moves: Count = Field(4, description="Its last decisions, each of which must say so.")
    value: Annotated[FiniteFloat, Field(gt=0, le=1)] = Field(0.95, description="Minus this or less is lost, this or more won.")
    both: bool = Field(False, description="Whether the other seat must say that it wins.")


class AdjudicateKeys(_Keys):
    """Games ended by the values that agents report; each rule only if it is given."""

    draw: DrawKeys | None = Field(None, description="A draw when both seats report level values.")
    resign: ResignKeys | None = Field(None, description="A loss of a seat that reports lost values.")


class SpecKeys(_Keys):
    """A tournament."""

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(None, description="Default: the file's stem.")
    game: GivenGame | None = Field(None, description="A name, or {name: ..., parameters}.")
    games: Annotated[list[GivenGame], Field(min_length=1)] | None = Field(None, description="Several boards.")
    format: str | Options | None = Field(None, description="Default: round-robin for games, benchmark for puzzles.")
    rounds: Count | None = Field(None, description="Positions drawn; default 10.")
    positions: str | list[str] | None = Field(None, description="Texts, or a file with one text a line.")
    agents: list[str | Options] = Field(description="Who plays.")
    limits: MatchLimits | None = Field(None, description="For every entry that gives none of its own.")
    isolation: Any = Field(
        None,
        description="none: agents run in arena's own processes; process: each in one of its own, the default for programs, for "
        "entries with a plugin and under a limit of seconds, CPU seconds or memory; sandbox: in one without network or files.",
    )
    pondering: bool = Field(
        False, description="Whether an agent in a process of its own goes on while others decide; else it stands still then."
    )
    openings: OpeningKeys | None = Field(None, description="Random moves before the agents play, the same for everyone.")
    adjudicate: AdjudicateKeys | None = Field(
        None, description="Games of two seats may end by the values that agents report; never puzzles."
    )
    anchor: Annotated[str, Field(min_length=1)] | None = Field(None, description="The entry whose rating is 0.")
    columns: Annotated[list[str], Field(min_length=1)] | None = Field(None, description="The columns of the boards, in order.")
    sort: str | None = Field(None, description="A column; with `-` before it the largest comes first.")
    rank: Literal["wins", "returns"] | None = Field(
        None,
        description="What games are ranked by: wins and half draws, or mean returns, the default where a game is not zero-sum.",
    )
    orders: Any = Field(None, description="Of the formats round-robin and gauntlet: all orders of seats, or rotations alone.")
    challengers: Any = Field(None, description="Of the format gauntlet, which may have it as an option, too.")
    test: Any = Field(None, description="Of the format head-to-head, likewise.")
    replays: Any = Field(None, description="Of the format knockout, likewise.")
    seed: SpecSeed = Field(
        0, description="Everything random follows from it; secret draws one that is revealed when the run ends."
    )
    plugins: list[Source] | None = Field(None, description="Python files, relative to the spec, or modules.")
