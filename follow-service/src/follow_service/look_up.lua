#!lua flags=allow-cross-slot-keys,no-writes
-- What is kept. ARGV: how many users, they; then of each item: its key, and "p" for a profile, or "b" for a list of blocks.
-- Of a profile its text. Of a list nothing if it is not kept; else "+" if it is whole or "-", and of each user when, if they are in it.
local count, found = tonumber(ARGV[1]), {}
for i = count + 2, #ARGV, 2 do
  if ARGV[i + 1] == 'p' then
    found[#found + 1] = redis.call('GET', ARGV[i])
  else
    local head = redis.call('ZRANGE', ARGV[i], 0, 0)[1]
    if head and head:sub(1, 1) == '!' then
      found[#found + 1] = { head:sub(-1), redis.call('ZMSCORE', ARGV[i], unpack(ARGV, 2, count + 1)) }
    else
      found[#found + 1] = false
    end
  end
end
return found
