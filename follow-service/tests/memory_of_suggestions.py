"""The Redis of suggestions in memory: nothing expires, and it is away when it is told to be."""

from murmuration_runtime.errors import RedisAwayError
from murmuration_suggested.reader import Found


class SuggestedInMemory:
    """What follow-service asks of it, and how a run is written."""

    def __init__(self):
        self.is_away = False
        self.counting, self.of_runs, self.online = None, {}, {}

    def write(self, run, lists):
        """Write a run and switch to it; the one before stays for who still reads it, and no third one."""
        kept = {run.version, self.counting and self.counting.version}
        self.of_runs = {version: each for version, each in self.of_runs.items() if version in kept}
        self.of_runs[run.version] = lists
        self.counting = run

    def check(self):
        if self.is_away:
            raise RedisAwayError("Redis did not answer")

    def run(self):
        self.check()
        return self.counting

    def find(self, user_id, version):
        self.check()
        of_run = self.of_runs.get(version, {}).get(user_id)
        return Found(of_run, self.online.get(user_id))

    def keep(self, user_id, suggestions):
        self.check()
        self.online[user_id] = [*suggestions]
