"""Home timelines: what the caller and those they follow said, newest first."""
