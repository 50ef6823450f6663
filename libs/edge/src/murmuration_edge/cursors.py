"""Cursors: texts that clients hand back and need not understand. Pure."""

import base64
from contextlib import suppress


class BadCursorError(Exception):
    """A cursor that this service did not hand out."""

    def __init__(self, parameter: str = "cursor", source: str = "next_cursor") -> None:
        detail = f"Send back a {source} exactly as it came, or leave {parameter} out."
        super().__init__(f"{parameter}: {detail}")
        self.errors = [{"parameter": parameter, "detail": detail}]


def encode(text: str) -> str:
    """Wrap a text so that it can stand in a URL as it is."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(cursor: str) -> str | None:
    """Unwrap what encode made; None if encode made no such thing. What the text may be is for the caller to check."""
    with suppress(ValueError):
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        return text if encode(text) == cursor else None  # base64 reads much that it never writes
    return None
