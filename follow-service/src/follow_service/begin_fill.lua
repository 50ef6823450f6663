-- Mark a list that is to be filled. KEYS: the list, what was noted of it. ARGV: token, seconds. Who was noted; nothing if there is a
-- list, or a mark.
if redis.call('EXISTS', KEYS[1]) == 1 then return false end
redis.call('ZADD', KEYS[1], -1, '?' .. ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return redis.call('ZRANGE', KEYS[2], 0, -1)
