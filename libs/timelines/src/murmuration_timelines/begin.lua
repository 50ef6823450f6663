-- Mark the rebuild of a cold timeline. KEYS: timeline, shown, what the first release had. ARGV: version, token, seconds.
-- 0 if the timeline is warm, or a marker of this history is there, whichever version's; else 1.
-- What was built, or marked, under another history is not there: whatever happened to it may be forgotten.
local last = redis.call('LINDEX', KEYS[1], -1)
if last and last:byte() == 33 then -- 33 is '!'
  if last:match('^!%d*:?' .. replication()) then return 0 end
elseif last and redis.call('EXISTS', KEYS[3]) == 0 then
  local own = prefix(ARGV[1]) .. ';'
  if redis.call('GETRANGE', KEYS[2], 0, #own - 1) == own then return 0 end
end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
redis.call('RPUSH', KEYS[1], marker(ARGV[1]) .. ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
