"""Bridges to what others have built: each is a plugin of its own, with an extra of its own."""
