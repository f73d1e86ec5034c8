"""What is asked: machines, groups of ranks, and the names that options take."""
