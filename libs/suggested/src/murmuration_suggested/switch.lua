-- Have a run count from now on. KEYS: the run, who writes. ARGV: the nodes' histories, who we are, version, text, seconds,
-- "1" to switch back, too.
-- "switched"; "lost" if this node lost something since the run began to be written; "another" if another job began to
-- write since; "older" if a later run counts already.
local history = redis.call('INFO', 'replication'):match('master_replid:(%x+)')
local writer = redis.call('GET', KEYS[2])
if not ARGV[1]:find(history, 1, true) or not writer then return 'lost' end
if writer ~= ARGV[2] then return 'another' end
local counts = redis.call('GET', KEYS[1])
if counts and counts:match('^%S+') > ARGV[3] and ARGV[6] ~= '1' then return 'older' end
redis.call('SET', KEYS[1], ARGV[4], 'EX', ARGV[5])
return 'switched'
