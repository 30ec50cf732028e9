"""Games and agents of open_spiel, and our games for it."""
