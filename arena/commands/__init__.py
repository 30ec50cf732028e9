"""The commands, a module each with its declaration and its work; `arena.cli` lists them."""
