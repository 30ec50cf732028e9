"""The process for `arena_isolation.own_compiler`: `python -m arena_isolation.compile_host` creates the agent of an entry, as the
process that plays does, and compiles its search.
"""

from arena_isolation.agent_host import main

if __name__ == "__main__":
    main()
