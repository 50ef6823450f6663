-- Insert one tweet into many timelines. ARGV: id, cap, slack, then the timelines, all of this node. The number of insertions.
-- Cold (absent): skip. Above the head: push. In it already, or below the last element, where the database serves it: skip.
-- Else: in its place. Ids are 19 digits, so they compare as strings; never as numbers, which lose digits.
-- Indexes are strings too: Redis writes a Lua number out anew for each call, which takes half as long as the call.
local call = redis.call
local id, cap, slack = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local function below(element)
  return element < id or element:byte() == 33 -- 33 is '!': a marker is below every id
end

local function insert_between(key, from, to) -- the new length, or false if it belongs below the last element
  local some = call('LRANGE', key, from, to)
  for _, element in ipairs(some) do
    if below(element) then return call('LINSERT', key, 'BEFORE', element, id) end
  end
  return #some > 0 and insert_between(key, to + 1, to + 64)
end

local function insert_late(key) -- the new length, or false; and whether the whole timeline is newer
  if call('LPOS', key, id, 'MAXLEN', '16') then return false, false end
  if below(call('LINDEX', key, '15') or '!') then return insert_between(key, 0, 15), false end
  if not below(call('LINDEX', key, '-1')) then return false, true end
  if call('LPOS', key, id) then return false, false end
  return insert_between(key, 0, 63), false
end

-- Once in as many pushes as the slack is, look at a list: over the cap, it is cut, and has room for as many again. And if nothing
-- says any more whom it shows, it goes: nobody has read it for so long that this was evicted, while what is pushed kept the
-- list itself from that.
local function tend(key, length)
  if call('LINDEX', key, '-1'):byte() == 33 then return end -- a rebuild takes what comes
  local kind, owner = key:match('^(%a+)_timeline(.*)$')
  local before = (kind == 'home' and '' or kind .. '_') .. 'followees' .. owner -- what the first release had
  if call('EXISTS', kind .. '_shown' .. owner, before) == 0 then
    call('UNLINK', key)
  elseif length > cap then
    call('LTRIM', key, 0, cap - 1)
  end
end

local inserted = 0
local newer = false -- the last warm timeline was newer as a whole: in a replay of last week, so are most others
for i = 4, #ARGV do
  local key, length = ARGV[i], false
  if newer then
    local tail = call('LINDEX', key, '-1')
    newer = not (tail and below(tail))
  end
  if not newer then
    local head = call('LINDEX', key, '0')
    if head and below(head) then
      length = call('LPUSH', key, id)
    elseif head and head ~= id then
      length, newer = insert_late(key)
    end
  end
  if length then
    inserted = inserted + 1
    if (length - cap) % slack == 0 then tend(key, length) end
  end
end
return inserted
