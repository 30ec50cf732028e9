"""The catalogue of installed plugins: the commands list, show, matrix, plugins and docs, and the boards of games."""
