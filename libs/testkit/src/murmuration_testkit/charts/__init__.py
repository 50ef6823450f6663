"""The charts: what they render to, what every workload of theirs must keep, and whether they agree with the code."""
