-- Let the marker of a rebuild live on. KEYS: timeline. ARGV: version, token, seconds, and "1" to forget that a follow changed.
-- 0 if the marker is no longer there.
local own, last = marker(ARGV[1]) .. ARGV[2], redis.call('LINDEX', KEYS[1], -1)
if not last or last:sub(1, #own) ~= own then return 0 end
if ARGV[4] == '1' then redis.call('LSET', KEYS[1], -1, own) end
return redis.call('EXPIRE', KEYS[1], ARGV[3])
