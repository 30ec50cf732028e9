"""Text and tables in LaTeX."""

from collections.abc import Iterable, Sequence

from arena.api.results import TextTable

STYLE = "latex_booktabs"
"""The style of tables in LaTeX. They need the package booktabs."""
MAX_PLAIN_COLUMNS = 8
"""A table with more columns is scaled to the width of the text."""
_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_SPECIAL |= {"<": r"\ensuremath{<}", ">": r"\ensuremath{>}", **{character: f"\\{character}" for character in "&%$#_{}"}}


def escape(text: str) -> str:
    r"""Return a text in which characters with a meaning in LaTeX are escaped. Text between backticks is set like code.

    >>> print(escape("a_b: 95 %, by `arena compare --across`"))
    a\_b: 95 \%, by \texttt{arena compare -{}-across}
    """
    parts = text.split("`")
    escaped = ["".join([_SPECIAL.get(character, character) for character in part]).replace("--", "-{}-") for part in parts]
    if len(parts) % 2 == 0:  # a backtick without a partner
        escaped[-2:] = ["\\textasciigrave{}".join(escaped[-2:])]
    return "".join([f"\\texttt{{{part}}}" if number % 2 else part for number, part in enumerate(escaped)])


def table(found: TextTable, caption: str, label: str, remarks: Iterable[str] = ()) -> str:
    """Return a table as a floating environment, with a caption, a label for references, and remarks below it."""
    rows = found.text(STYLE)
    if len(found.headings) > MAX_PLAIN_COLUMNS:
        rows = f"\\resizebox{{\\linewidth}}{{!}}{{%\n{rows}}}"
    notes = [f"\\par\\smallskip\\parbox{{\\linewidth}}{{\\footnotesize {' '.join(map(escape, remarks))}}}"] if remarks else []
    lines = [f"\\caption{{{escape(caption)}}}", f"\\label{{tab:{label}}}", rows, *notes]
    return _float("table", lines)


def figure(file: str, caption: str, label: str) -> str:
    """Return a floating environment with the picture in a file, a caption, and a label for references."""
    lines = [f"\\includegraphics[width=\\linewidth]{{{file}}}", f"\\caption{{{escape(caption)}}}", f"\\label{{fig:{label}}}"]
    return _float("figure", lines)


def _float(kind: str, lines: Sequence[str]) -> str:
    return "\n".join([f"\\begin{{{kind}}}[htbp]", "\\centering", *lines, f"\\end{{{kind}}}", ""])
