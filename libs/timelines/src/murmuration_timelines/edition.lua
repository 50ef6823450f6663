-- A name for what is written now: nobody has written under it before.
local function edition()
  local time = redis.call('TIME')
  return time[1] .. ('%06d'):format(time[2])
end

