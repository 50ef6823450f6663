-- Forget keys. ARGV: the keys, all of this node. Of each 1 if it was there; a tombstone, which is an empty text, stays.
local forgotten = {}
for i, key in ipairs(ARGV) do
  local tombstone = redis.call('TYPE', key).ok == 'string' and redis.call('STRLEN', key) == 0
  forgotten[i] = tombstone and 0 or redis.call('UNLINK', key)
end
return forgotten
