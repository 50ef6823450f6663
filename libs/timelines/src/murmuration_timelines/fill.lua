-- Fill bodies. ARGV: seconds a body lives, seconds a tombstone lives; then of each its key, the right to fill it, and its JSON,
-- or an empty text for a tombstone. A tombstone always wins. A body written under another history says nothing: one that was
-- deleted may have lost its tombstone. So does a right given under another: the tweet may have been deleted since.
local now = history()
for i = 3, #ARGV, 3 do
  local key, right, body = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if body == '' then
    redis.call('SET', key, '', 'EX', ARGV[2])
  elseif right == now then
    local old = redis.call('GET', key)
    if not old or old ~= '' and old:sub(1, #now) ~= now then redis.call('SET', key, now .. body, 'EX', ARGV[1]) end
  end
end
return 1
