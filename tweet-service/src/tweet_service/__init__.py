"""Tweets, written once and deleted softly."""
