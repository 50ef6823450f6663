-- Take tokens out of buckets. ARGV: of each bucket its key, tokens, tokens a second, and how many it holds.
-- A bucket is the moment at which it will be full, by this node's clock; it is gone when that has come.
-- Answers in how many seconds each is full. Debts are bounded: what was spent alone is owed for two bursts at most.
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local answers = {}
for i = 1, #ARGV, 4 do
  local key, tokens, rate, burst = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  local full_at = math.max(tonumber(redis.call('GET', key) or 0), now)
  if tokens > 0 then
    full_at = math.min(full_at + tokens / rate, math.max(full_at, now + 2 * burst / rate))
    redis.call('SET', key, string.format('%.6f', full_at), 'PX', math.ceil((full_at - now) * 1000))
  end
  answers[#answers + 1] = string.format('%.6f', full_at - now)
end
return answers
