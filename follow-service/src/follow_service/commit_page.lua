-- Keep a page. KEYS: a reader's pages. ARGV: the mark, which, the page, how many are kept. 0 if the mark is gone, or the page would be one too many.
if redis.call('HGET', KEYS[1], '!') ~= ARGV[1] then return 0 end
if not redis.call('HGET', KEYS[1], ARGV[2]) and redis.call('HLEN', KEYS[1]) > tonumber(ARGV[4]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return 1
