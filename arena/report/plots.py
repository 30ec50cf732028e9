"""All plots of a board."""

from arena.report.budget_plots import budget_plots
from arena.report.convergence import convergence_plot
from arena.report.cross import cross_plot
from arena.report.difficulty import difficulty_plot
from arena.report.evidence import Evidence
from arena.report.plot import Plot
from arena.report.ratings import ratings_plot
from arena.report.spread import spread_plots


def plots_of(evidence: Evidence) -> list[Plot]:
    """The plots that a board has something to show in, in the order in which they are shown."""
    if evidence.sheet.kind == "versus":
        found = [ratings_plot(evidence.board), cross_plot(evidence.board), convergence_plot(evidence)]
    else:
        found = [difficulty_plot(evidence), *budget_plots(evidence), convergence_plot(evidence)]
    return [plot for plot in [*found, *spread_plots(evidence)] if plot is not None]
