-- ARGV: bodies. Of each what was filled in, or the empty text of a tombstone; else the history, which is the right to fill it.
local now, found = history(), {}
for i, key in ipairs(ARGV) do
  local body = redis.call('GET', key)
  if body and body:sub(1, #now) == now then body = body:sub(#now + 1) elseif body ~= '' then body = now end
  found[i] = body
end
return found
