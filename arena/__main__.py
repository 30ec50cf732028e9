"""`python -m arena` runs the command `arena`."""

from arena.cli import main

if __name__ == "__main__":
    main()
