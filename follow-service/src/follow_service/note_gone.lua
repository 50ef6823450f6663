-- Note people by the time (ms). KEYS: a sorted set. ARGV: seconds that they are noted, they.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now, ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[1] * 1000)
return redis.call('EXPIRE', KEYS[1], ARGV[1])
