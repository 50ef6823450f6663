-- Read timelines. ARGV: version; how many of the newest ids, or 0 for all; seconds that a timeline lives; seconds that a
-- provisional one lives; then of each its timeline and followees.
-- Of each: nothing if it is cold; else its ids and its followees, each in one text because that is faster by half.
local own, count, lives, provisional = prefix(ARGV[1]), tonumber(ARGV[2]) - 1, tonumber(ARGV[3]), tonumber(ARGV[4])
local found = {}
for i = 5, #ARGV, 2 do
  local timeline, followees, one = ARGV[i], ARGV[i + 1], false
  local last, known = redis.call('LINDEX', timeline, -1), redis.call('GET', followees)
  if last and last:byte() ~= 33 and known and known:sub(1, #own) == own then -- 33 is '!': a marker
    local left = redis.call('TTL', timeline)
    if left > provisional and left < lives - 86400 then -- whoever reads stays warm
      redis.call('EXPIRE', timeline, lives)
      redis.call('EXPIRE', followees, lives)
    end
    one = { table.concat(redis.call('LRANGE', timeline, 0, count), ' '), known }
  end
  found[#found + 1] = one
end
return found
