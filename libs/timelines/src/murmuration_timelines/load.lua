-- Read timelines. ARGV: how many of the newest ids, or 0 for all; seconds that a timeline lives; seconds that a provisional
-- one lives; then of each its timeline and following.
-- Of each: nothing if it is cold; else its ids and its following, each in one text because that is faster by half.
local count, lives, provisional = tonumber(ARGV[1]) - 1, tonumber(ARGV[2]), tonumber(ARGV[3])
local now, found = history(), {}
for i = 4, #ARGV, 2 do
  local timeline, following, one = ARGV[i], ARGV[i + 1], false
  local last, known = redis.call('LINDEX', timeline, -1), redis.call('GET', following)
  if last and last:byte() ~= 33 and known and known:sub(1, #now) == now then -- 33 is '!', the mark of a rebuild
    local left = redis.call('TTL', timeline)
    if left > provisional and left < lives - 86400 then -- whoever reads stays warm
      redis.call('EXPIRE', timeline, lives)
      redis.call('EXPIRE', following, lives)
    end
    one = { table.concat(redis.call('LRANGE', timeline, 0, count), ' '), known }
  end
  found[#found + 1] = one
end
return found
