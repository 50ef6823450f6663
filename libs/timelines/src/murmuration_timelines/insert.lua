#!lua flags=allow-cross-slot-keys
-- Insert one tweet into many home timelines. ARGV: id, cap, slack, then the keys, all of this node.
-- Cold (absent): skip. Above the head: push. In it already, or not above the last element, where the database serves it:
-- skip. Else: in its place. Ids are 19 digits, so they compare as strings; never as numbers, which lose digits.
-- Indexes are strings too: Redis writes a Lua number out anew for each call, which takes half as long as the call.
local call = redis.call
local id, most, last = ARGV[1], ARGV[2] + ARGV[3], ARGV[2] - 1
local inserted, old = 0, false

local function below(element)
  return element < id or element:byte() == 33 -- 33 is '!', the mark of a rebuild, below every id
end

local function place(key, from, to)
  local some = call('LRANGE', key, from, to)
  for _, element in ipairs(some) do
    if below(element) then return call('LINSERT', key, 'BEFORE', element, id) end
  end
  return #some > 0 and place(key, to + 1, to + 64)
end

local function gone(key) -- whether it is for the database to serve, or for nobody
  local last = call('LINDEX', key, '-1')
  old = last and not below(last) or not last and old
  return old or not last
end

local function late(key)
  if call('LPOS', key, id, 'MAXLEN', '16') then return false end
  if below(call('LINDEX', key, '15') or '!') then return place(key, 0, 15) end
  return not gone(key) and not call('LPOS', key, id) and place(key, 0, 63)
end

for i = 4, #ARGV do
  local key, length = ARGV[i], nil
  if not old or not gone(key) then -- a replay is of the last seconds or of last week: as for one timeline, so for most
    local head = call('LINDEX', key, '0')
    if head and below(head) then
      length = call('LPUSH', key, id)
    elseif head and head ~= id then
      length = late(key)
    end
  end
  if length then
    inserted = inserted + 1
    if length > most and call('LINDEX', key, '-1'):byte() ~= 33 then call('LTRIM', key, 0, last) end
  end
end
return inserted
