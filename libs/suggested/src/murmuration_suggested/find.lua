-- KEYS: a list, another one. What each holds; nothing of a list that is not there.
return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])}
