-- Fill bodies. ARGV: version, seconds a body lives, a tombstone lives, a right is good for; then of each its key, the right to
-- fill it, and its text, which is empty for a tombstone. A tombstone always wins. A body with another PREFIX says nothing: one
-- that was deleted may have lost its tombstone. So does a right given under another, or long ago: a tombstone that came since may
-- have been evicted.
local own, now = prefix(ARGV[1]), tonumber(redis.call('TIME')[1])
for i = 5, #ARGV, 3 do
  local key, right, body = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if body == '' then
    redis.call('SET', key, '', 'EX', ARGV[3])
  elseif right:sub(1, #own + 1) == own .. ';' and now - tonumber(right:sub(#own + 2)) <= tonumber(ARGV[4]) then
    local old = redis.call('GET', key)
    if not old or old ~= '' and old:sub(1, #own) ~= own then redis.call('SET', key, own .. body, 'EX', ARGV[2]) end
  end
end
return 1
