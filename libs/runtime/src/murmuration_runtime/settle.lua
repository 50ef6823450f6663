-- Say until when partitions are settled; it never moves back. KEYS: a hash. ARGV: seconds that it lives; then of each partition its
-- field and its time in ms.
for i = 2, #ARGV, 2 do
  local was = redis.call('HGET', KEYS[1], ARGV[i])
  if not was or tonumber(was) < tonumber(ARGV[i + 1]) then redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
end
return redis.call('EXPIRE', KEYS[1], ARGV[1])
