-- Mark a rebuild. KEYS: timeline, following. ARGV: token, seconds. 0 if the timeline is there, or another's mark is.
if redis.call('EXISTS', KEYS[1]) == 1 then
  local mark = redis.call('LINDEX', KEYS[1], -1):byte() == 33 -- '!'
  if mark or redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
  redis.call('DEL', KEYS[1]) -- a timeline that lost its following shows nothing
end
redis.call('RPUSH', KEYS[1], '!' .. ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
