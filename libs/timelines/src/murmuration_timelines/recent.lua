-- ARGV: sets of authors' latest ids. The history, and then all those ids.
local found = { history() }
for _, key in ipairs(ARGV) do
  for _, id in ipairs(redis.call('ZRANGE', key, 0, -1)) do found[#found + 1] = id end
end
return found
