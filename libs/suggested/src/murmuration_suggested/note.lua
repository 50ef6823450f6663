-- KEYS: a text. What it holds.
return redis.call('GET', KEYS[1])
