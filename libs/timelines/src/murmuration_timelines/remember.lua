-- Keep a tweet among its author's recent ones. KEYS: recent. ARGV: id, how many are kept, seconds.
redis.call('ZADD', KEYS[1], 0, ARGV[1]) -- one score: the order is that of the ids
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -ARGV[2] - 1)
return redis.call('EXPIRE', KEYS[1], ARGV[3])
