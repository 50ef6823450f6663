-- Note that a followee's edges changed. ARGV: followee, seconds that a note lives; then of each follower: noted, timeline, shown.
-- Of each: nothing if there is no timeline; else the edition of whom it shows, or "" if it is being built.
local found = {}
for i = 3, #ARGV, 3 do
  redis.call('SADD', ARGV[i], ARGV[1])
  redis.call('EXPIRE', ARGV[i], ARGV[2])
  local edition = false
  if redis.call('EXISTS', ARGV[i + 1]) == 1 then
    edition = redis.call('GETRANGE', ARGV[i + 2], 0, 79):match('^[^; ]*;(%d+);') or ''
  end
  found[#found + 1] = edition
end
return found
