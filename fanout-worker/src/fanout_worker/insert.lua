#!lua flags=allow-cross-slot-keys
-- Insert one tweet into many home timelines. ARGV: id, cap, slack, then the keys, all of this node.
-- Cold (absent): skip. Above the head: push. Else it is a repeat, late, or not above the last element, where the database
-- serves it: skip, or put it in its place. Ids are 19 digits, so they compare as strings; never as numbers, which lose digits.
local id, cap, slack = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local inserted = 0

local function below(element)
  return element < id or element:byte() == 33 -- 33 is '!', the mark of a rebuild, below every id
end

local function place(key)
  for _, element in ipairs(redis.call('LRANGE', key, 0, -1)) do
    if below(element) then return redis.call('LINSERT', key, 'BEFORE', element, id) end
  end
end

for i = 4, #ARGV do
  local key, length = ARGV[i], nil
  local head = redis.call('LINDEX', key, 0)
  if head and below(head) then
    length = redis.call('LPUSH', key, id)
  elseif head and head ~= id and below(redis.call('LINDEX', key, -1)) and not redis.call('LPOS', key, id) then
    length = place(key)
  end
  if length then
    inserted = inserted + 1
    if length > cap + slack and redis.call('LINDEX', key, -1):byte() ~= 33 then redis.call('LTRIM', key, 0, cap - 1) end
  end
end
return inserted
