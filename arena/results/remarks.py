"""The remarks on a board about how far to trust it: its ratings, their scale, and moves that nobody chose."""

from arena.results import figures
from arena.results.leaderboard import Leaderboard, UnratedAgents
from arena.results.rating import WIDEST

REPEATS = (
    "No intervals: nobody has played two pairs of games that differ. Agents that draw nothing by lot repeat themselves; "
    "try openings: {plies: 4} in the spec."
)
ONE_ROUND = "No intervals: they take a second round, with dice and deals of its own; `rounds` in the spec."


def rating_remarks(board: Leaderboard) -> list[str]:
    """The remarks on the order of a versus board, its scale and its intervals; none for puzzles, and before the first game."""
    if board.kind != "versus" or not board.games:
        return []
    lines = []
    if any(row["rating_low"] is not None or row["rating_high"] is not None for row in board.rows):
        about = "the field's mean" if board.anchor is None else board.anchor
        sample = "rounds" if board.sheet.has_chance else "pairs of games"
        scale = f"Elo about {about}: 400 are ten wins to one loss, draws apart; 95 % intervals from {sample} ({board.method})."
        lines.append(" ".join([*_order(board), scale]))
    else:
        lines += [*_order(board), ONE_ROUND if board.sheet.has_chance else REPEATS]
    if board.unrated is not None:
        lines += _unrated(board.unrated)
    if any(row["level_with"] for row in board.rows):
        lines.append("~ : the interval overlaps with another's, so the order is not certain.")
    circles = () if board.by_returns else board.cycles  # which are of wins
    return lines + [f"{' beats '.join([*circle, circle[0]])}: a circle beyond chance." for circle in circles]


def _order(board: Leaderboard) -> list[str]:
    """What the board is ranked by, unless its format has a ranking of its own, which is in its columns."""
    if board.own_columns or board.unranked is not None:
        return []
    if board.by_returns:
        lines = ["Ranked by mean return; Elo and score are from wins and draws alone."]
        if not board.folded and all(row["return_low"] is None for row in board.rows):
            lines.append("Mean returns have no intervals before there is a second round.")
        return lines
    lines = ["Ranked by Elo." if board.by_rating else "Ranked by score."]
    if _disagree(board):
        lines.append(
            "Mean returns order the agents otherwise, since not all wins are alike; rank: returns in the spec goes by them."
        )
    return lines


def _disagree(board: Leaderboard) -> bool:
    """True if of two agents one has the higher score and the other the higher mean return."""
    known = [(row["score"], row["mean_return"]) for row in board.rows if row["games"]]
    return any(one[0] > two[0] and one[1] < two[1] for one in known for two in known)


def _unrated(unrated: UnratedAgents) -> list[str]:
    """What it would take to have the ratings that are not shown."""
    lines = []
    if unrated.agents - set(unrated.swept):
        line = f"? : the 95 % interval is wider than ±{WIDEST} Elo: no rating yet."
        if unrated.needed is not None:
            pairs = f"{unrated.decisive:,}" if unrated.decisive else "none"
            about = "at least" if unrated.swept else "about"
            line += f" It takes {about} {unrated.needed:,} decisive pairs of games in all; there are {pairs}."
        lines.append(line)
    if unrated.swept:
        names = ", ".join(unrated.swept)
        lines.append(
            f"? of {names}: all points or none, which bounds a rating on one side alone; it takes a point the other way."
        )
    return lines


def unmetered_remarks(board: Leaderboard) -> list[str]:
    """Who has generated how many states that no count has; none where nobody was seen to."""
    if not board.unmetered:
        return []
    shown = ", ".join([f"{agent} {states:,}" for agent, states in board.unmetered])
    return [f"Generated past the view, in no count of nodes and under no limit of nodes: {shown} states, as far as seen."]


def fallback_remarks(board: Leaderboard) -> list[str]:
    """Who played how many moves at random; none where nobody did."""
    if not board.fallbacks:
        return []
    lines = [f"{board.fallbacks:,} actions were drawn at random: a budget ran out before anything was reported."]
    if board.fallen_back:
        shares = [
            f"{agent} {fallbacks:,} of {decisions:,} decisions ({figures.share(fallbacks / decisions)})"
            for agent, fallbacks, decisions in board.fallen_back
        ]
        lines.append(f"! : {', '.join(shares)}. A rank says little of an agent that did not choose.")
    if board.unclear:
        lines.append(f"The records do not tell how many of them were whose among {', '.join(board.unclear)}.")
    return lines
