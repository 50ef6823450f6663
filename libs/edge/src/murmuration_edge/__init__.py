"""What the three edges have in common."""
