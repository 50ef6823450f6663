-- Read timelines of which the reader may hold a copy. ARGV: version; how many of the newest ids, or 0 for all; then of each its
-- timeline, its shown, what the first release had, and the state of the reader's copy, or "" without one.
-- Returns of each: nothing if it is cold; else its seconds to live; and if its state is not that of the copy, its ids joined by
-- spaces (which is faster than a list), and its state; and if the copy has another head, also its shown.
-- The state (head, length, oldest id) changes with every write: in one edition a list only grows or is cut, and a cut leaves a
-- newer oldest id.
local own, to, found = prefix(ARGV[1]) .. ';', tonumber(ARGV[2]) - 1, {}
for i = 3, #ARGV, 4 do
  local timeline, shown, copy, one = ARGV[i], ARGV[i + 1], ARGV[i + 3], false
  local head = redis.call('GETRANGE', shown, 0, 79):match('^[^ ]*')
  if head:sub(1, #own) == own then
    local last = redis.call('LINDEX', timeline, '-1')
    if last and last:byte() ~= 33 and redis.call('EXISTS', ARGV[i + 2]) == 0 then -- 33 is '!': a marker
      local state = table.concat({ head, redis.call('LLEN', timeline), last }, ' ')
      one = { redis.call('TTL', timeline) }
      if state ~= copy then
        one[2], one[3] = table.concat(redis.call('LRANGE', timeline, 0, to), ' '), state
        if copy:sub(1, #head + 1) ~= head .. ' ' then one[4] = redis.call('GET', shown) end
      end
    end
  end
  found[#found + 1] = one
end
return found
