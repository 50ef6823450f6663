#!lua flags=no-writes
-- KEYS: a sorted set. ARGV: a time (ms), how many. Who was noted since, the earliest first, each with when.
return redis.call('ZRANGE', KEYS[1], ARGV[1], '+inf', 'BYSCORE', 'LIMIT', 0, ARGV[2], 'WITHSCORES')
