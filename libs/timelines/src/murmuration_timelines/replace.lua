-- Put a timeline in place of a warm one that served meanwhile. KEYS: as put.lua.
-- ARGV: version, the warm one's edition, seconds, ages, digests, how many ids the warm one had, these, then the new one's.
-- 0 and nothing done if it is cold, or a follow changed, or another has replaced it.
local own, last = prefix(ARGV[1]), redis.call('LINDEX', KEYS[1], -1)
local head = own .. ';' .. ARGV[2] .. ';'
if not last or last:byte() == 33 or redis.call('EXISTS', KEYS[3]) == 1 then return 0 end -- 33 is '!', a marker
if redis.call('GETRANGE', KEYS[2], 0, #head - 1) ~= head then return 0 end
local first, had, arrived = 7 + tonumber(ARGV[6]), { ['0'] = true }, {}
for i = 7, first - 1 do had[ARGV[i]] = true end
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if not had[id] then arrived[#arrived + 1] = id end
end
put(arrived, first, ARGV[3], own, ARGV[4], ARGV[5])
return 1
