"""The command `dataset`: writes a store as a folder that Hugging Face reads as a data set, with a card (a README.md)."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from arena import Record, __version__
from arena.api.cli import OutputKind, distribution, make_folder, results_alone, say
from arena.api.results import Leaderboard, figures
from arena.api.store import Store, write_whole
from arena_records.lines import lines
from arena_records.transcripts import find_decision, hide_secrets
from arena_web.report.evidence import Findings, findings
from arena_web.transcripts import read_exchanges

ABOUT = {
    "matches": "one row for each match: its board and round, the agent in each seat (`labels`), the actions, the result of each "
    "seat (`returns`), and why it ended (`termination`)",
    "decisions": "one row for each decision of an agent, with the amounts that it used, such as `tokens_out` and `money`",
    "transcripts": "one row for each answer of a language model: the messages, the answer, the thoughts that the provider "
    "reports, whether it was `legal`, `illegal` or `unreadable`, and the reason given to the model. `decision` is the "
    "`number` in `decisions.jsonl`, and `request` counts the answers in a decision",
    "entries": "one row for each entry of each board, with the agent and its `options`, as JSON",
}
"""The files of a data set, each with its description in the card."""
FILES = (
    OutputKind("README.md", "the card of an arena data set", b"\ntags: [games, evaluation, arena]\n"),
    OutputKind("spec.json", "the spec of an arena data set", b'{\n  "seed": '),
    *[OutputKind(f"{name}.jsonl", "a JSON Lines file", b'{"') for name in ABOUT],
)
"""The files of a data set."""
LEFT_OUT = ("decisions", "timing", "traceback", "message")
"""Keys of records that are left out of the table of matches, because their values are nested or may contain paths of this
machine.
"""
CARD_KEYS = ("rating", "rating_low", "rating_high", "score", "solved", "mean_return")
MODEL_KEYS = ("legal_first", "gap", "tokens_per_game", "cost_per_game")
"""The columns of a leaderboard in the card. The columns in MODEL_KEYS are for language models; each one comes with the columns of
its bounds.
"""
DECISION_KEYS = ("seat", "nodes", "evaluations", "seconds", "depth", "value", "exact", "fallback")


@click.command()
@click.argument("store")
@click.option("-o", "--output", "out", metavar="DIR", required=True, help="The folder of the data set.")
def dataset(store: str, out: str) -> int:
    """Write STORE as a data set for Hugging Face: matches, decisions and transcripts as JSON lines, and a card.

    Texts that look like keys are replaced.
    """
    folder = Path(out)
    with results_alone(), Store.open(store) as opened, opened.snapshot():
        found = findings(opened)
        make_folder(folder, [(one.suffix, one) for one in FILES])
        records = map(json.loads, lines(opened, "jsonl"))
        matches = ({**row, "parameters": json.dumps(row["parameters"])} for row in records)
        kept = ({name: value for name, value in row.items() if name not in LEFT_OUT} for row in matches)
        rows = {"matches": kept, "decisions": _list_decisions(opened), "transcripts": _list_exchanges(opened)}
        rows["entries"] = (
            {"board": number, "game": one.board.title, "label": label, "agent": settings["agent"]}
            | {key: json.dumps(settings[key]) for key in ("options", "heuristic")}
            for number, one in enumerate(found.boards)
            for label, settings in zip(one.sheet.labels, one.sheet.settings, strict=False)
        )
        counts = {name: _write(folder / f"{name}.jsonl", some) for name, some in rows.items()}
        spec = {"seed": found.run.seed, **found.run.spec["values"]}
        write_whole(folder / "spec.json", json.dumps(_hide(spec), indent=2, default=str).encode(), b"\n")
        write_whole(folder / "README.md", hide_secrets(_write_card(found, counts)).encode())
    say(f"{folder}: {', '.join([f'{count:,} {name}' for name, count in counts.items()])}")
    return 0


def _list_decisions(store: Store) -> Iterator[dict[str, Any]]:
    amounts = sorted({name for record, _ in store.records() for one in record.decisions for name in one.spent or ()})
    for record, _ in store.records():
        for number, one in enumerate(record.decisions):
            row = {"match": record.id, "number": number, "agent": record.labels[one.seat]}
            own = {name: getattr(one, name) for name in DECISION_KEYS}
            yield row | own | {name: None if one.spent is None else one.spent.get(name) for name in amounts}


def _list_exchanges(store: Store) -> Iterator[dict[str, Any]]:
    record: Record | None = None
    for line, agent, one in read_exchanges(store):
        if record is None or record.id != line["match"]:
            record = next((held for held, _ in store.found([line["match"]]).values()), None)
        messages = [{key: str(each.get(key, "")) for key in ("role", "content")} for each in one.get("messages", ())]
        texts = {key: str(one.get(key) or "") for key in ("outcome", "answer", "thoughts", "fault", "model")}
        tokens = {key: one.get(key) for key in ("tokens_in", "tokens_out")}
        row = {"match": line["match"], "agent": agent, "seat": one.get("seat"), "messages": messages}
        row |= {"decision": None if record is None else find_decision(record, one), "request": one.get("request")}
        yield {**row, **texts, **tokens, "truncated": bool(one.get("truncated"))}


def _hide(value: Any) -> Any:
    """Return a copy of a value, with the secrets in its texts replaced."""
    if isinstance(value, str):
        return hide_secrets(value)
    if isinstance(value, dict):
        return {name: _hide(each) for name, each in value.items()}
    return [_hide(each) for each in value] if isinstance(value, (list, tuple)) else value


def _write(place: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write rows as lines of JSON and return their number. The lines are first written to a temporary file. Without rows, no
    file is written.
    """
    beside, count = place.with_suffix(".part"), 0
    try:
        beside.unlink(missing_ok=True)  # it may be a link
        with beside.open("w", encoding="utf-8") as file:
            for count, row in enumerate(rows, 1):  # noqa: B007 - `count` is used after the loop
                file.write(json.dumps(_hide(row), allow_nan=False) + "\n")  # in ASCII, as texts may have halves of surrogates
        if count:
            beside.replace(place)
        else:
            place.unlink(missing_ok=True)
    finally:
        beside.unlink(missing_ok=True)
    return count


def _write_card(found: Findings, counts: dict[str, int]) -> str:
    """Return the card, which says how to read the files and what they contain, and has the leaderboards."""
    title = Path(found.store).stem if found.run.name.startswith("<") else found.run.name
    head = ["---", f"pretty_name: {json.dumps(title)}", "tags: [games, evaluation, arena]", "configs:"]
    for name, count in counts.items():
        if count:
            head += [f"- config_name: {name}", f"  data_files: {name}.jsonl"]
    files = [f"* `{name}.jsonl`, {figures.amount(count, 'row')}: {ABOUT[name]}." for name, count in counts.items() if count]
    files += ["* `spec.json`: the tournament file. It never contains the keys of providers."]
    boards: list[str] = []
    for evidence in found.boards:
        boards += ["", f"## {evidence.board.title}", "", *_write_table(evidence.board)]
    licence = "Choose a licence before you publish this data set."
    made = f"Made with {distribution()} {__version__} from the matches of a tournament. {licence}"
    return "\n".join([*head, "---", "", f"# {title}", "", made, "", *files, *boards, ""])


def _write_table(board: Leaderboard) -> Iterator[str]:
    bounded = [key for name in MODEL_KEYS for key in (name, f"{name}_low", f"{name}_high")]
    keys = [key for key in (*CARD_KEYS, *bounded) if any(row.get(key) is not None for row in board.rows)]
    headings = ["agent", *keys]
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for row in board.rows:
        cells = [
            str(row["agent"]).replace("|", "\\|"),
            *["" if row.get(key) is None else figures.figure(row[key]) for key in keys],
        ]
        yield f"| {' | '.join(cells)} |"
