"""The interactive commands `arena play` and `arena solve`, and the menu that `arena` shows without a command."""
