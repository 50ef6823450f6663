-- How a marker begins: the first release's readers know each other's by the node's replication id, which any change of history
-- changes, too.
local function replication()
  return redis.call('INFO', 'replication'):match('master_replid:(%x%x%x%x%x%x%x%x)')
end

local function marker(version)
  return '!' .. version .. replication()
end

