-- Keep a list in the place of a mark. KEYS: the list. ARGV: token, seconds, "+" or "-", then of each: when, who. 0 if the mark is gone.
if not redis.call('ZSCORE', KEYS[1], '?' .. ARGV[1]) then return 0 end
redis.call('DEL', KEYS[1])
for i = 4, #ARGV, 1000 do
  redis.call('ZADD', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
redis.call('ZADD', KEYS[1], -1, '!' .. ARGV[1] .. ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
