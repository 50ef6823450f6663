"""Whether a store node is asked or left alone. Pure.

Rule: an answer of any kind, an error too, shows that the node is there, and closes the breaker. So many calls in a row
without an answer open it. While it is open nobody asks but a probe.
"""


class Breaker:
    """Closed while the node answers."""

    def __init__(self, tries: int) -> None:
        """Take how many calls in a row without an answer open it."""
        self._tries = tries
        self._unanswered = 0

    @property
    def is_open(self) -> bool:
        """Tell whether the node is to be left alone."""
        return self._unanswered >= self._tries

    def answered(self) -> None:
        """Note that the node answered somebody."""
        self._unanswered = 0

    def unanswered(self) -> None:
        """Note that a call ended without an answer."""
        self._unanswered += 1
