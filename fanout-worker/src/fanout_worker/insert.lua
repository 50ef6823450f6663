#!lua flags=allow-cross-slot-keys
-- Insert one tweet into many home timelines. ARGV: id, cap, slack, then the keys, all of this node.
-- Cold (absent): skip. Not above the last element: skip, it is a repeat or the database serves it. Above the head: push.
-- Else: in its place, unless it is there. Ids are 19 digits, so they compare as strings; never as numbers, which lose digits.
local id, cap, slack = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local inserted = 0

local function below(element)
  return element:byte() == 33 or element < id -- 33 is '!', the mark of a rebuild, below every id
end

local function place(key)
  for _, element in ipairs(redis.call('LRANGE', key, 0, -1)) do
    if element == id then return 0 end
    if below(element) then return redis.call('LINSERT', key, 'BEFORE', element, id) end
  end
  return 0
end

for i = 4, #ARGV do
  local key = ARGV[i]
  local last = redis.call('LINDEX', key, -1)
  if last and below(last) then
    local length
    if below(redis.call('LINDEX', key, 0)) then length = redis.call('LPUSH', key, id) else length = place(key) end
    if length > 0 then inserted = inserted + 1 end
    if length > cap + slack and last:byte() ~= 33 then redis.call('LTRIM', key, 0, cap - 1) end
  end
end
return inserted
