"""Games as environments for learners, and learned policies as agents."""
