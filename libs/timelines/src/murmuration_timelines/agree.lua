-- Make timelines agree with the tables about one followee. ARGV: the followee's digest, cap, how many ids, the followee's latest
-- ids, newest first; then of each follower: timeline, shown, what the first release had, the edition that was noted, and "1" if
-- the followee shows now, or "0".
-- Of each: 0 if it is cold, or being built: then the marker changes, and the builder reads the follows again; 1 if it agrees; 2 if
-- another has changed it since it was noted.
local call, digest, cap, first = redis.call, ARGV[1], tonumber(ARGV[2]), 4 + tonumber(ARGV[3])
local width = #digest

local function number(text, at) -- digests as numbers, which a double has room for: texts compare as the locale says
  local value = 0
  for i = at, at + width - 1 do value = value * 256 + text:byte(i) end
  return value
end

local wanted = number(digest, 1)

local function place(digests) -- how many bytes are before the digest's place, and whether it is there: they ascend
  local low, high = 0, #digests / width
  while low < high do
    local middle = math.floor((low + high) / 2)
    if number(digests, middle * width + 1) < wanted then low = middle + 1 else high = middle end
  end
  return low * width, digests:sub(low * width + 1, (low + 1) * width) == digest
end

local function merge(timeline)
  local old, merged, i = call('LRANGE', timeline, 0, -1), {}, 4
  for _, id in ipairs(old) do -- both descend; ids are 19 digits, so they compare as strings, and '0' is below them
    while i < first and ARGV[i] > id do
      merged[#merged + 1], i = ARGV[i], i + 1
    end
    if i < first and ARGV[i] == id then i = i + 1 end
    merged[#merged + 1] = id
  end -- what is below the last element is the database's to serve
  if #merged == #old and #merged <= cap then return end -- over the cap, the followee's own ids may end above the last element
  local expiry = call('PTTL', timeline)
  call('DEL', timeline)
  for from = 1, math.min(#merged, cap), 1000 do
    call('RPUSH', timeline, unpack(merged, from, math.min(from + 999, #merged, cap)))
  end
  if expiry > 0 then call('PEXPIRE', timeline, expiry) end
end

local function agree(timeline, key, before, noted, followed)
  local last = call('LINDEX', timeline, -1)
  if not last then return 0 end
  if last:byte() == 33 then -- 33 is '!', the marker of a rebuild
    call('LSET', timeline, -1, last .. '~')
    return 0
  end
  local shown = call('GET', key) or ''
  local own, was, ages = shown:match('^([^; ]*);(%d+);([%d;]*) ')
  if not own or call('EXISTS', before) == 1 then -- it is of no use, or of a reader who cannot be told
    call('DEL', timeline, key, before)
    return 0
  end
  if was ~= noted then return 2 end
  local digests = shown:sub(shown:find(' ', 1, true) + 1)
  local before_it, there = place(digests)
  if followed == '1' then
    merge(timeline)
    if not there then digests = digests:sub(1, before_it) .. digest .. digests:sub(before_it + 1) end
  elseif there then -- its ids may stay: the reader drops them
    digests = digests:sub(1, before_it) .. digests:sub(before_it + width + 1)
  end
  call('SET', key, own .. ';' .. edition() .. ';' .. ages .. ' ' .. digests, 'KEEPTTL')
  return 1
end

local found = {}
for i = first, #ARGV, 5 do
  found[#found + 1] = agree(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4])
end
return found
