"""Follower and following counts that are never wrong."""
