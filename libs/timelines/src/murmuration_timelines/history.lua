#!lua flags=allow-cross-slot-keys
-- The PREFIX of whatever is written on this node now (layout.py). Redis names a node's history anew at every start, and when a
-- replica becomes master: what was built under another name may have holes.
local function history()
  return redis.call('INFO', 'replication'):match('master_replid:(%x%x%x%x%x%x%x%x)')
end

local function prefix(version)
  return '!' .. version .. history()
end

