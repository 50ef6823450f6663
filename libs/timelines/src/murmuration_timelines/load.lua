-- Read timelines of which the reader may hold a copy. ARGV: version; how many of the newest ids, or 0 for all; then of each its
-- timeline, its shown, what the first release had, and the state of the reader's copy, or "" without one.
-- Returns of each: nothing if it is cold; else its seconds to live; and if its state is not that of the copy, its ids joined by
-- spaces (which is faster than a list), its shown, and its state.
-- The state (head, length, oldest id) changes with every write: in one edition a list only grows or is cut, and a cut leaves a
-- newer oldest id.
local own, to, found = prefix(ARGV[1]) .. ';', tonumber(ARGV[2]) - 1, {}
for i = 3, #ARGV, 4 do
  local timeline, one = ARGV[i], false
  local shown = redis.call('GET', ARGV[i + 1])
  if shown and shown:sub(1, #own) == own then
    local last = redis.call('LINDEX', timeline, '-1')
    if last and last:byte() ~= 33 and redis.call('EXISTS', ARGV[i + 2]) == 0 then -- 33 is '!': a marker
      local state = table.concat({ shown:match('^[^ ]*'), redis.call('LLEN', timeline), last }, ' ')
      one = { redis.call('TTL', timeline) }
      if state ~= ARGV[i + 3] then
        one = { one[1], table.concat(redis.call('LRANGE', timeline, 0, to), ' '), shown, state }
      end
    end
  end
  found[#found + 1] = one
end
return found
