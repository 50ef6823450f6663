-- ARGV: the lowest id that is wanted; sets of authors' latest ids. The history, and then all those ids.
local found = { history() }
for i = 2, #ARGV do
  for _, id in ipairs(redis.call('ZRANGE', ARGV[i], '[' .. ARGV[1], '+', 'BYLEX')) do found[#found + 1] = id end
end
return found
