-- Fill bodies. ARGV: version, seconds a body lives, seconds a tombstone lives; then of each its key, the right to fill it, and
-- its text, which is empty for a tombstone. A tombstone always wins. A body with another PREFIX says nothing: one that was
-- deleted may have lost its tombstone. So does a right given under another: the tweet may have been deleted since.
local own = prefix(ARGV[1])
for i = 4, #ARGV, 3 do
  local key, right, body = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if body == '' then
    redis.call('SET', key, '', 'EX', ARGV[3])
  elseif right == own then
    local old = redis.call('GET', key)
    if not old or old ~= '' and old:sub(1, #own) ~= own then redis.call('SET', key, own .. body, 'EX', ARGV[2]) end
  end
end
return 1
