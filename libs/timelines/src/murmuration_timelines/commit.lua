-- Put a rebuilt timeline in place of its marker. KEYS: as put.lua. ARGV: version, token, seconds, ages, digests, ids.
-- 0 and nothing done if the marker is another: a follow changed; or gone: the builder took too long, or Redis began anew.
if redis.call('LINDEX', KEYS[1], -1) ~= marker(ARGV[1]) .. ARGV[2] then return 0 end
put(redis.call('LRANGE', KEYS[1], 0, -2), 6, ARGV[3], prefix(ARGV[1]), ARGV[4], ARGV[5])
return 1
