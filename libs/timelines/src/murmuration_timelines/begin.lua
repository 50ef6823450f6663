-- Mark a rebuild. KEYS: timeline, following. ARGV: token, seconds. 0 if the timeline is there, or another's mark is.
-- What was built, or marked, under another history is not there: whatever happened to it may be forgotten.
local now, last = history(), redis.call('LINDEX', KEYS[1], -1)
if last then
  local marked = last:byte() == 33 and last:sub(1, #now) == now -- 33 is '!'
  if marked or last:byte() ~= 33 and redis.call('GETRANGE', KEYS[2], 0, #now - 1) == now then return 0 end
  redis.call('DEL', KEYS[1])
end
redis.call('RPUSH', KEYS[1], now .. ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
