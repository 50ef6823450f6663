#!lua flags=allow-cross-slot-keys
-- Have lists agree with the table. ARGV: edition, how many a list keeps, and how many over; then of each: the list, who, and when, or
-- "" for who is not in it. A list of another edition is dropped: who changed it may know something later.
local most, slack = tonumber(ARGV[2]), tonumber(ARGV[3])
for i = 4, #ARGV, 3 do
  local list, who, at = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local head = redis.call('ZRANGE', list, 0, 0)[1]
  if head and head:sub(1, 1) == '!' then
    local whole = head:sub(-1) == '+'
    if head:sub(2, -2) ~= ARGV[1] then
      redis.call('DEL', list)
    elseif at == '' then
      redis.call('ZREM', list, who)
    else
      local last = redis.call('ZRANGE', list, 1, 1, 'WITHSCORES')
      if whole or last[2] and tonumber(at) > tonumber(last[2]) then redis.call('ZADD', list, at, who) end
      local over = redis.call('ZCARD', list) - 1 - most
      if over > slack then
        redis.call('ZREMRANGEBYRANK', list, 1, over)
        redis.call('ZADD', list, -1, '!' .. ARGV[1] .. '-')
        if whole then redis.call('ZREM', list, head) end
      end
    end
  end
end
return 1
