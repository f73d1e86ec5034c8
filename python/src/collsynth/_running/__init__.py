"""What all adapters share: the tables of a plan, ranges of memory, and what processes agree on before a call."""
