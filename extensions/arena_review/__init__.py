"""The command `arena review`: judges every decision in a store, and finds the positions in which an agent loses most."""
