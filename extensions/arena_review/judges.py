"""All judges by name, the strongest first."""

from collections.abc import Mapping

from arena_review.api import Judge
from arena_review.game_judges import ExactJudge, SearchJudge, refuse_game
from arena_review.hidden_judges import EquilibriumJudge, EstimateJudge, refuse_hidden, refuse_small
from arena_review.puzzle_judge import RegretJudge, refuse_puzzle
from arena_review.tied_judges import TiedExactJudge, TiedSearchJudge

_LISTED = (
    Judge(
        "exact",
        "searches a position and its successor to the end of the game, so its judgements are certain",
        refuse_game,
        ExactJudge,
    ),
    Judge(
        "regret",
        "compares the cost of an action and of the best solution after it with the optimal cost",
        refuse_puzzle,
        RegretJudge,
    ),
    Judge(
        "search",
        "searches far deeper than the players, and gives a verdict only if a search with half the budget confirms it",
        refuse_game,
        SearchJudge,
    ),
    Judge(
        "equilibrium",
        "compares an action with the best response to an equilibrium of the whole game, which it computes up to a small error",
        refuse_small,
        EquilibriumJudge,
    ),
    Judge(
        "estimate",
        "takes the mean over states that the seat considers possible. A search in each of them knows more than the seat, and "
        "may choose a different action in each (strategy fusion), so an estimate has no class and is never called a mistake",
        refuse_hidden,
        EstimateJudge,
    ),
)
TIED_JUDGES: Mapping[str, Judge] = {
    "exact": Judge(
        "exact",
        "searches every action to the end of the game, and gives a verdict only if the loss is the same however the players "
        "choose among actions that are equal for them, so its judgements are certain. The returns in such "
        "games have other values than win, draw and loss, so a decisive mistake loses at least three tenths of their range",
        refuse_game,
        TiedExactJudge,
    ),
    "search": Judge(
        "search",
        "searches far deeper than the players, and gives a verdict only if a search with half the budget confirms it, and if the "
        "loss is the same however the players choose among actions that are equal for them",
        refuse_game,
        TiedSearchJudge,
    ),
}
"""The judges that replace those of the same names in games with more than one seat that are not zero-sum for two."""
JUDGES: Mapping[str, Judge] = {judge.name: judge for judge in _LISTED}
"""If the first judge that supports a game has no verdict on a decision, the next one is asked."""
