#!lua flags=no-writes
-- The newest of a list. KEYS: the list. ARGV: how many. Nothing if it is not kept; else "+" or "-", how many it has, and they with when.
local head = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
if not head or head:sub(1, 1) ~= '!' then return false end
local rows = redis.call('ZRANGE', KEYS[1], '+inf', '0', 'BYSCORE', 'REV', 'LIMIT', 0, ARGV[1], 'WITHSCORES')
return { head:sub(-1), redis.call('ZCARD', KEYS[1]) - 1, unpack(rows) }
