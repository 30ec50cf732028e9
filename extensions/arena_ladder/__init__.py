"""An arena that never closes: submissions, ratings, and the matches that tell most."""
