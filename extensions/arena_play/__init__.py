"""Interactive commands: `arena play`, `arena solve`, and the menu of `arena` alone."""
