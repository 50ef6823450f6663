#!lua flags=no-writes
-- KEYS: a sorted set. ARGV: a time (ms), how many. Returns the time, and who was noted since that one, the earliest
-- first, each with when.
local time = redis.call('TIME')
local told = redis.call('ZRANGE', KEYS[1], ARGV[1], '+inf', 'BYSCORE', 'LIMIT', 0, ARGV[2], 'WITHSCORES')
return { time[1] * 1000 + math.floor(time[2] / 1000), told }
