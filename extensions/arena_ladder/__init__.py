"""An arena that never closes: submissions, ratings, and the most informative matches."""
