-- Mark a rebuild. KEYS: timeline, followees. ARGV: version, token, seconds.
-- 0 if the timeline is warm, or a marker of this history is there, whichever version's; else 1.
-- What was built, or marked, under another history is not there: whatever happened to it may be forgotten.
local own, last = prefix(ARGV[1]), redis.call('LINDEX', KEYS[1], -1)
if last then
  local marked = last:byte() == 33 -- 33 is '!'
  if marked and last:match('^!%d*:?' .. history()) then return 0 end
  if not marked and redis.call('GETRANGE', KEYS[2], 0, #own - 1) == own then return 0 end
  redis.call('DEL', KEYS[1])
end
redis.call('RPUSH', KEYS[1], own .. ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
