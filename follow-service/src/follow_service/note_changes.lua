#!lua flags=allow-cross-slot-keys
-- Note that lists change. ARGV: edition, seconds, how many notes are kept, of how many a list is busy; then of each: the list, what is noted of it, who.
-- Of each 1 if the list is kept, else 0.
local now, found = tonumber(redis.call('TIME')[1]), {}
for i = 5, #ARGV, 3 do
  local list, noted = ARGV[i], ARGV[i + 1]
  redis.call('ZADD', noted, now, ARGV[i + 2])
  redis.call('ZREMRANGEBYSCORE', noted, '-inf', now - ARGV[2])
  redis.call('ZREMRANGEBYRANK', noted, 0, -ARGV[3] - 1)
  redis.call('EXPIRE', noted, ARGV[2])
  local head, kept = redis.call('ZRANGE', list, 0, 0)[1], 0
  if head and head:sub(1, 1) == '!' then
    local new = '!' .. ARGV[1] .. head:sub(-1)
    redis.call('ZADD', list, -1, new) -- before the other goes: a set without members forgets for how long it lives
    if new ~= head then redis.call('ZREM', list, head) end
    kept = 1
  elseif head and redis.call('ZCARD', noted) < tonumber(ARGV[4]) then
    redis.call('DEL', list)
  elseif head then -- it changes too fast to be filled: until the mark expires, nobody begins anew
    redis.call('ZADD', list, -1, '?')
    if head ~= '?' then redis.call('ZREM', list, head) end
  end
  found[#found + 1] = kept
end
return found
