-- KEYS: a list, another one, a set. What each holds; an empty text for a list that is not there.
return {redis.call('GET', KEYS[1]) or '', redis.call('GET', KEYS[2]) or '', redis.call('SMEMBERS', KEYS[3])}
