"""An alarm while Kafka has another setting of a topic than the contract that the worker rests on."""

import logging
from collections.abc import Callable, Mapping

from murmuration_worker.metrics import SETTING_DIFFERS

EVERY_SECONDS = 60.0
_log = logging.getLogger(__name__)


class TopicSettings:
    """What Kafka had at the last look."""

    def __init__(self, differing: Callable[[], Mapping[tuple[str, str], str]]) -> None:
        """Take what to ask: by topic and setting, what Kafka has instead."""
        self._differing = differing
        self._known: dict[tuple[str, str], str] = {}

    def look(self) -> None:
        """Look once, and say what differs: in the metric as long as it does, in the log when it begins."""
        found = dict(self._differing())
        for topic, setting in self._known.keys() - found.keys():
            SETTING_DIFFERS.remove(topic, setting)
        for (topic, setting), has in sorted(found.items()):
            SETTING_DIFFERS.labels(topic, setting).set(1)
            if self._known.get((topic, setting)) != has:
                _log.error(
                    "a topic's setting is not its contract's: run `python -m contracts apply`",
                    extra={"topic": topic, "setting": setting, "reason": f"Kafka has {has}"},
                )
        self._known = found
