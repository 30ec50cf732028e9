"""Child processes: started within limits, heard on stderr, and ended with everything that they started."""
