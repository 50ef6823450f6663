"""The Lua scripts: each is atomic on its node, and the only code that changes a timeline."""

from functools import partial

from murmuration_runtime.redis_nodes import Script

_script = partial(Script, "murmuration_timelines")
_with_prefix = partial(_script, "history.lua")

# What the writer runs: it writes nothing that has a PREFIX, so one script serves readers of every version.
INSERT = _script("insert.lua")
AGREE = _script("agree.lua")
# What the reader runs.
LOAD = _with_prefix("load.lua", keys=2)
BEGIN, RENEW, COMMIT = map(_with_prefix, ("begin.lua", "renew.lua", "commit.lua"))
RECENT, BODIES, FILL = map(_with_prefix, ("recent.lua", "bodies.lua", "fill.lua"))
# What an operator runs.
RESET = _script("reset.lua")
