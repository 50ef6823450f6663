"""Whom each person is suggested, in Redis."""
