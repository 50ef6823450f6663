-- Let the mark of a rebuild live on. KEYS: timeline. ARGV: token, seconds, and "1" to forget that a follow changed.
-- 0 if the mark is no longer there.
local own, mark = history() .. ARGV[1], redis.call('LINDEX', KEYS[1], -1)
if not mark or mark:sub(1, #own) ~= own then return 0 end
if ARGV[3] == '1' then redis.call('LSET', KEYS[1], -1, own) end
return redis.call('EXPIRE', KEYS[1], ARGV[2])
