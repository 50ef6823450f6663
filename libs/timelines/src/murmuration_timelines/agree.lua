-- Make a timeline agree with the table about one followee. KEYS: timeline, followees.
-- ARGV: followee, "1" if followed now or "0", cap, then the followee's latest ids, newest first.
-- 0 if the timeline is cold, or is being rebuilt: then the marker changes, and the builder looks at the follows again. Else 1.
local timeline, followees, followee = KEYS[1], KEYS[2], ARGV[1]
local last, known = redis.call('LINDEX', timeline, -1), redis.call('GET', followees)
if not last then return 0 end
if last:byte() == 33 then -- 33 is '!', the marker of a rebuild
  redis.call('LSET', timeline, -1, last .. '~')
  return 0
end
if not known then
  redis.call('DEL', timeline)
  return 0
end
local from, to = known:find(' ' .. followee .. ' ', 1, true)
if ARGV[2] == '0' then -- the ids may stay: the reader drops them
  if from then redis.call('SET', followees, known:sub(1, from) .. known:sub(to + 1), 'KEEPTTL') end
  return 1
end

local old, merged, i, cap = redis.call('LRANGE', timeline, 0, -1), {}, 4, tonumber(ARGV[3])
for _, id in ipairs(old) do -- both descend; ids are 19 digits, so they compare as strings, and '0' is below them
  while ARGV[i] and ARGV[i] > id do
    merged[#merged + 1], i = ARGV[i], i + 1
  end
  if ARGV[i] == id then i = i + 1 end
  merged[#merged + 1] = id
end -- what is below the last element is the database's to serve
if #merged > #old or #merged > cap then -- over the cap, the followee's own ids may end above the last element
  local expiry = redis.call('PTTL', timeline)
  redis.call('DEL', timeline)
  for from = 1, math.min(#merged, cap), 1000 do
    redis.call('RPUSH', timeline, unpack(merged, from, math.min(from + 999, #merged, cap)))
  end
  if expiry > 0 then redis.call('PEXPIRE', timeline, expiry) end
end
if not from then redis.call('SET', followees, known .. followee .. ' ', 'KEEPTTL') end -- APPEND would double the memory
return 1
