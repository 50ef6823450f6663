#!lua flags=allow-oom
-- Begin to write a run: who began before may switch no more. KEYS: the run, who writes. ARGV: who we are, seconds.
-- Which run counts.
redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[2])
return redis.call('GET', KEYS[1])
