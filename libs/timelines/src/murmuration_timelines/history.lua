#!lua flags=allow-cross-slot-keys
-- Which past the data of this node has. Redis names it anew at every start, and when a replica becomes master: whatever was
-- built under another name may have holes.
local function history()
  return '!' .. redis.call('INFO', 'replication'):match('master_replid:(%x%x%x%x%x%x%x%x)')
end

