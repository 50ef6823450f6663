-- KEYS: a set. ARGV: seconds, a member.
redis.call('SADD', KEYS[1], ARGV[2])
return redis.call('EXPIRE', KEYS[1], ARGV[1])
