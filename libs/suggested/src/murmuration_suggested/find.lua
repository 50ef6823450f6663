-- KEYS: a list, another one, a set. What each holds; nothing of a list that is not there.
return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]), redis.call('SMEMBERS', KEYS[3])}
