"""The Lua scripts: each is atomic on its node."""

from functools import partial

from murmuration_runtime.redis_nodes import Script

_script = partial(Script, "murmuration_suggested")

# What an edge runs.
NOTE = _script("note.lua")
FIND = _script("find.lua", keys=2)
# What a run is written by; the edge keeps by it what it makes online.
BEGIN = _script("begin.lua")
WRITE = _script("write.lua")
SWITCH = _script("switch.lua")
FORGET = _script("forget.lua")
