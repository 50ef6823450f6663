-- Put a timeline in its place. KEYS: timeline, shown, and what the first release had. ids: ARGV from there to its end, the floor
-- last; what arrived is merged in. ages: what stands behind the edition.
local function put(arrived, first, seconds, own, ages, digests)
  local merged, a = {}, 1
  for b = first, #ARGV do -- both descend; ids are 19 digits, so they compare as strings, and '0' is below them
    while arrived[a] and arrived[a] > ARGV[b] do
      merged[#merged + 1], a = arrived[a], a + 1
    end
    if arrived[a] == ARGV[b] then a = a + 1 end
    merged[#merged + 1] = ARGV[b]
  end -- what arrived below the last element is served by the database
  redis.call('DEL', KEYS[1], KEYS[3])
  for i = 1, #merged, 1000 do
    redis.call('RPUSH', KEYS[1], unpack(merged, i, math.min(i + 999, #merged)))
  end
  redis.call('EXPIRE', KEYS[1], seconds)
  redis.call('SET', KEYS[2], own .. ';' .. edition() .. ';' .. ages .. ' ' .. digests, 'EX', seconds)
end

