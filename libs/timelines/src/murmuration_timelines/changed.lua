-- Read timelines that the reader may have already. ARGV: version; how many of the newest ids, or 0 for all; then of each its
-- timeline, its shown, what the first release had, and the state in which the reader has it, or "".
-- Of each: nothing if it is cold; one text if it is as the reader has it, which says how long it lives yet; else its ids in one text,
-- its shown, how long it lives yet, and its state. That is another after each write, for nobody inserts 65 ids below the head in
-- the moment between two reads, and only then could a list that was cut have the length that it had.
local own, count, found = prefix(ARGV[1]) .. ';', tonumber(ARGV[2]) - 1, {}
for i = 3, #ARGV, 4 do
  local timeline, one = ARGV[i], false
  local shown = redis.call('GET', ARGV[i + 1])
  if shown and shown:sub(1, #own) == own then
    local last = redis.call('LINDEX', timeline, '-1')
    if last and last:byte() ~= 33 and redis.call('EXISTS', ARGV[i + 2]) == 0 then -- 33 is '!': a marker
      local state = table.concat({ shown:match('^[^ ]*'), redis.call('LLEN', timeline), redis.call('LINDEX', timeline, '0'), last }, ' ')
      one = { redis.call('TTL', timeline) }
      if state ~= ARGV[i + 3] then
        one = { table.concat(redis.call('LRANGE', timeline, 0, count), ' '), shown, one[1], state }
      end
    end
  end
  found[#found + 1] = one
end
return found
