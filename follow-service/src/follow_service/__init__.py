"""Profiles and who follows whom."""
