"""Tweets to the home timelines of their author's followers."""
