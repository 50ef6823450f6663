#!lua flags=allow-cross-slot-keys
-- ARGV: seconds, then keys and texts, all of this node.
for i = 2, #ARGV, 2 do redis.call('SET', ARGV[i], ARGV[i + 1], 'EX', ARGV[1]) end
return #ARGV
