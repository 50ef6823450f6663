"""A progress bar for whoever watches; nothing where nobody does."""

import time
from typing import TextIO

WIDTH = 30
EVERY_S = 0.1


class Bar:
    """One line on a terminal, drawn over and over."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._shown = out.isatty()
        self._text = "beginning"
        self._done = self._total = self._pages = 0
        self._drawn_at = 0.0

    def tell(self, text: str, done: int, total: int) -> None:
        """Say what is being done, and how much of it; a total of 0 is unknown."""
        self._text, self._done, self._total = text, done, total
        self._draw()

    def page(self) -> None:
        """Count a page that is read."""
        self._pages += 1
        self._draw()

    def clear(self) -> None:
        """Leave the line to whoever writes next."""
        if self._shown:
            self._out.write("\r\x1b[K")

    def line(self) -> str:
        """Return the bar as it stands."""
        filled = WIDTH * self._done // self._total if self._total else 0
        bar = f"[{'#' * filled:<{WIDTH}}] {self._done}/{self._total} " if self._total else ""
        return f"{bar}{self._text}, {self._pages} pages read"

    def _draw(self) -> None:
        if self._shown and time.monotonic() - self._drawn_at >= EVERY_S:
            self._drawn_at = time.monotonic()
            self._out.write(f"\r\x1b[K{self.line()}")
            self._out.flush()
