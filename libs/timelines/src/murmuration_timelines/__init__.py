"""The home timeline in Redis, whole: what fanout-worker writes and timeline-service reads."""
