-- Say when a warm timeline is due again. KEYS: shown. ARGV: its head as it was read, and the new one. 0 if it has changed.
local known = redis.call('GET', KEYS[1])
if not known or known:sub(1, #ARGV[1] + 1) ~= ARGV[1] .. ' ' then return 0 end
redis.call('SET', KEYS[1], ARGV[2] .. known:sub(#ARGV[1] + 1), 'KEEPTTL')
return 1
