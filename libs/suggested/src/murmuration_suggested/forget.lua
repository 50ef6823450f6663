#!lua flags=allow-cross-slot-keys
-- ARGV: keys, all of this node.
return redis.call('UNLINK', unpack(ARGV))
