-- Put a rebuilt timeline in place of its marker. KEYS: timeline, followees.
-- ARGV: version, token, seconds, how many ids, the ids with the floor last where it is "0", then whom the user follows.
-- 0 and nothing done if the marker is another: a follow changed; or gone: the builder took too long, or Redis began anew.
local own = prefix(ARGV[1])
if redis.call('LINDEX', KEYS[1], -1) ~= own .. ARGV[2] then return 0 end

local arrived, merged, a = redis.call('LRANGE', KEYS[1], 0, -2), {}, 1
local last = 4 + tonumber(ARGV[4])
for b = 5, last do -- both descend; ids are 19 digits, so they compare as strings, and '0' is below them
  while arrived[a] and arrived[a] > ARGV[b] do
    merged[#merged + 1], a = arrived[a], a + 1
  end
  if arrived[a] == ARGV[b] then a = a + 1 end
  merged[#merged + 1] = ARGV[b]
end -- what arrived below the last element is served by the database

redis.call('DEL', KEYS[1])
for i = 1, #merged, 1000 do
  redis.call('RPUSH', KEYS[1], unpack(merged, i, math.min(i + 999, #merged)))
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('SET', KEYS[2], own .. ' ' .. table.concat(ARGV, ' ', last + 1) .. ' ', 'EX', ARGV[3])
return 1
