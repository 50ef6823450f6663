#!lua flags=allow-cross-slot-keys,allow-oom
-- ARGV: keys, all of this node.
return redis.call('UNLINK', unpack(ARGV))
