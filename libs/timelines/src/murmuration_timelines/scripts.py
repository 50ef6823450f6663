"""The Lua scripts: each is atomic on its node, and the only code that changes a timeline.

Rule: a script that only reads says so, and is run by a Redis that refuses writes: its replicas are gone, its disk or
its memory is full. One that only frees memory runs when that is full, too.
"""

from functools import partial

from murmuration_runtime.redis_nodes import Script

_ANYWHERE = "allow-cross-slot-keys"
_writing = partial(Script, "murmuration_timelines", flags=_ANYWHERE)
_reading = partial(Script, "murmuration_timelines", flags=f"{_ANYWHERE},no-writes")
_freeing = partial(Script, "murmuration_timelines", flags=f"{_ANYWHERE},allow-oom")
_KEYS = 3  # of a timeline

# What the writer runs: it leaves each PREFIX as it is, so one script serves readers of every version.
INSERT = _writing("insert.lua")
NOTE = _writing("note.lua", keys=_KEYS)
AGREE = _writing("edition.lua", "agree.lua", keys=_KEYS)
REMEMBER = _writing("remember.lua")
# What the reader runs.
LOAD = _reading("history.lua", "load.lua", keys=_KEYS, raw=True)
BEGIN = _writing("history.lua", "marker.lua", "begin.lua")
RENEW = _writing("marker.lua", "renew.lua")
COMMIT = _writing("history.lua", "marker.lua", "edition.lua", "put.lua", "commit.lua")
REPLACE = _writing("history.lua", "edition.lua", "put.lua", "replace.lua")
DUE = _writing("due.lua")
RECENT = _reading("history.lua", "recent.lua")
BODIES = _reading("history.lua", "bodies.lua")
FILL = _writing("history.lua", "fill.lua")
# What an operator runs.
RESET = _freeing("reset.lua")
