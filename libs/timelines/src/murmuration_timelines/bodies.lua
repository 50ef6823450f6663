-- ARGV: version, then bodies. Of each what was filled in, or the empty text of a tombstone; else the right to fill it: PREFIX, and
-- when it was given.
local own, found = prefix(ARGV[1]), {}
local right = own .. ';' .. redis.call('TIME')[1]
for i = 2, #ARGV do
  local body = redis.call('GET', ARGV[i])
  if body and body:sub(1, #own) == own then body = body:sub(#own + 1) elseif body ~= '' then body = right end
  found[i - 1] = body
end
return found
