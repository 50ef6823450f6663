-- Have a run count from now on. KEYS: the run. ARGV: the nodes' histories, version, text, seconds, "1" to switch back, too.
-- "switched"; "lost" if this node lost something since the run began to be written; "older" if a later run counts already.
local history = redis.call('INFO', 'replication'):match('master_replid:(%x+)')
if not ARGV[1]:find(history, 1, true) then return 'lost' end
local counts = redis.call('GET', KEYS[1])
if counts and counts:match('^%S+') > ARGV[2] and ARGV[5] ~= '1' then return 'older' end
redis.call('SET', KEYS[1], ARGV[3], 'EX', ARGV[4])
return 'switched'
