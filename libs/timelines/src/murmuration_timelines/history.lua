-- Which past this node's data has. A start gives a node a new run_id, a promotion a new master_replid2, so that whatever was
-- written under another history may have holes. A first replica, or none for an hour, changes neither.
local function history()
  return redis.call('INFO', 'server'):match('run_id:(%x%x%x%x%x%x%x%x)')
    .. redis.call('INFO', 'replication'):match('master_replid2:(%x%x%x%x%x%x%x%x)')
end

-- The PREFIX of what a reader of this version writes on this node now (layout.py).
local function prefix(version)
  return '!' .. version .. history()
end

