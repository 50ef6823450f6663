-- A page that is kept for a reader. KEYS: their pages. ARGV: which, a new mark, seconds. The time (ms), their mark, and the page if there is one.
local time = redis.call('TIME')
local found = redis.call('HMGET', KEYS[1], '!', ARGV[1])
if not found[1] then
  found[1] = ARGV[2]
  redis.call('HSET', KEYS[1], '!', ARGV[2])
  redis.call('EXPIRE', KEYS[1], ARGV[3])
end
return { time[1] * 1000 + math.floor(time[2] / 1000), found[1], found[2] }
