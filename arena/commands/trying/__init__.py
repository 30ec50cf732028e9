"""`arena try`: what a plugin file brings, played against the built-ins for a few seconds."""
