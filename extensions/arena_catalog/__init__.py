"""The catalogue of installed plugins, with the commands `list`, `show`, `matrix`, `plugins` and `docs`. This package also finds
the JavaScript modules that draw boards.
"""
