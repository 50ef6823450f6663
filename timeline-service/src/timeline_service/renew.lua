-- Let the mark of a rebuild live on. KEYS: timeline. ARGV: token, seconds. 0 if it is no longer there.
if redis.call('LINDEX', KEYS[1], -1) ~= history() .. ARGV[1] then return 0 end
return redis.call('EXPIRE', KEYS[1], ARGV[2])
