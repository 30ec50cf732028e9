"""Games small enough to be solved: their sequence form, best responses, and how far a policy is from an equilibrium."""
