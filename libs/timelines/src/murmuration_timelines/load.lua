-- Read timelines. ARGV: version; how many of the newest ids, or 0 for all; then of each its timeline, its shown, and what the
-- first release had: with that it is another's.
-- Of each: nothing if it is cold; else its ids in one text, because that is faster by half; its shown; how long it lives yet.
local own, count, found = prefix(ARGV[1]) .. ';', tonumber(ARGV[2]) - 1, {}
for i = 3, #ARGV, 3 do
  local timeline, one = ARGV[i], false
  local shown = redis.call('GET', ARGV[i + 1])
  if shown and shown:sub(1, #own) == own then
    local last = redis.call('LINDEX', timeline, '-1')
    if last and last:byte() ~= 33 and redis.call('EXISTS', ARGV[i + 2]) == 0 then -- 33 is '!': a marker
      one = { table.concat(redis.call('LRANGE', timeline, 0, count), ' '), shown, redis.call('TTL', timeline) }
    end
  end
  found[#found + 1] = one
end
return found
